import { once } from 'node:events';
import type { NextFunction, Request, RequestHandler, Response } from 'express';
import type { Tracing } from '#libs/runtime';
import { routeOf } from './known-methods.js';
import { pathOf } from './request.js';

/** Creates a span for each request, in the trace of its `traceparent`. */
export function traceRequests(tracing: Tracing): RequestHandler {
  return (request: Request, response: Response, next: NextFunction) => {
    if (pathOf(request).startsWith('/health')) {
      next();
      return;
    }
    const { method } = request;
    const parent = request.get('traceparent');
    const attributes = { 'http.request.method': method };
    void tracing.span({ name: method, kind: 'server', parent, attributes }, async (span) => {
      const closed = once(response, 'close');
      next();
      await closed;
      const route = routeOf(request);
      if (route !== undefined) {
        span.rename(`${method} ${route}`);
        span.set('http.route', route);
      }
      span.set('http.response.status_code', response.statusCode);
      if (response.statusCode >= 500) span.fail(String(response.statusCode));
    });
  };
}
