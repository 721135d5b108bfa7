import { once } from 'node:events';
import { Injectable } from '@nestjs/common';
import type { NextFunction, Request, RequestHandler, Response } from 'express';
import type { Histogram } from 'prom-client';
import { Log, Metrics, type Tracing } from '#libs/runtime';
import { routeOf } from './known-routes.js';
import { pathOf } from './request.js';

const SUMMARY_MS = 1_000;

/**
 * Logs one line per request. Event reports that are accepted, or refused because a store is away, are summarised once a
 * second: a line for each would cost a third of the time that Express takes, and fill the disk during an outage. Only
 * `LOG_LEVEL=debug` adds it.
 */
@Injectable()
export class RequestLog {
  private readonly counts = new Map<number, number>();
  private timer: NodeJS.Timeout | undefined;

  constructor(private readonly log: Log) {}

  readonly middleware = (request: Request, response: Response, next: NextFunction): void => {
    const path = pathOf(request);
    if (path.startsWith('/health')) {
      next();
      return;
    }
    const start = performance.now();
    const isEvent = request.method === 'POST' && path.startsWith('/v1/events');
    response.once('close', () => {
      const { statusCode } = response;
      const isUsual = statusCode < 400 || statusCode === 503;
      const isSummarised = isEvent && isUsual && response.writableFinished;
      if (isSummarised) this.count(statusCode);
      if (isSummarised && !this.log.isDebug) return;
      this.log[isSummarised ? 'debug' : 'info'](
        {
          requestId: request.requestId,
          method: request.method,
          // Without the query, whose values are customer data.
          path: path.slice(0, 200),
          status: statusCode,
          ms: Math.round(performance.now() - start),
          ...(!response.writableFinished && { aborted: true }),
        },
        'request',
      );
    });
    next();
  };

  private count(status: number): void {
    this.counts.set(status, (this.counts.get(status) ?? 0) + 1);
    this.timer ??= setTimeout(() => {
      this.log.info({ statuses: Object.fromEntries(this.counts) }, 'event requests');
      this.counts.clear();
      this.timer = undefined;
    }, SUMMARY_MS).unref();
  }
}

type Label = 'http_request_method' | 'http_route' | 'http_response_status_code';

/**
 * Measures requests, except for health requests and streams, which last for hours. Metrics and labels have the names
 * of OpenTelemetry.
 */
@Injectable()
export class RequestMetrics {
  private active = 0;
  private readonly durations: Histogram<Label>;

  constructor(metrics: Metrics) {
    this.durations = metrics.seconds(
      'http_server_request_duration_seconds',
      'Duration of requests until the whole answer was sent, or the client left.',
      ['http_request_method', 'http_route', 'http_response_status_code'],
    );
    metrics.gauge('http_server_active_requests', 'Requests in progress.', () => this.active);
  }

  readonly middleware = (request: Request, response: Response, next: NextFunction): void => {
    if (pathOf(request).startsWith('/health')) {
      next();
      return;
    }
    const start = performance.now();
    this.active += 1;
    response.once('close', () => {
      this.active -= 1;
      if (response.getHeader('Content-Type') === 'text/event-stream') return;
      const labels = {
        http_request_method: request.method,
        http_route: routeOf(request) ?? '',
        // Empty if the client left before the answer began.
        http_response_status_code: response.headersSent ? response.statusCode : '',
      };
      this.durations.observe(labels, (performance.now() - start) / 1_000);
    });
    next();
  };
}

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
