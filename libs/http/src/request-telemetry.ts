import { once } from 'node:events';
import { Inject, Injectable } from '@nestjs/common';
import type { NextFunction, Request, Response } from 'express';
import type { Histogram } from 'prom-client';
import { CONFIG, type Config, Log, Metrics, Tracing } from '#libs/runtime';
import { routeOf } from './known-routes.js';
import { pathOf } from './request.js';

const SUMMARY_MS = 1_000;

type Label = 'http_request_method' | 'http_route' | 'http_response_status_code';

/** Logs, measures and traces each request, except for health requests. Metrics and labels have the names of OpenTelemetry. */
@Injectable()
export class RequestTelemetry {
  private readonly counts = new Map<number, number>();
  private timer: NodeJS.Timeout | undefined;
  private active = 0;
  private readonly durations: Histogram<Label>;
  private readonly isMeasured: boolean;

  constructor(
    private readonly log: Log,
    private readonly tracing: Tracing,
    metrics: Metrics,
    @Inject(CONFIG) { METRICS_PORT }: Config,
  ) {
    this.isMeasured = METRICS_PORT > 0;
    this.durations = metrics.seconds(
      'http_server_request_duration_seconds',
      'Duration of requests until the whole answer was sent, or the client left.',
      ['http_request_method', 'http_route', 'http_response_status_code'],
    );
    metrics.gauge('http_server_active_requests', 'Requests in progress.', () => this.active);
  }

  readonly middleware = (request: Request, response: Response, next: NextFunction): void => {
    const path = pathOf(request);
    if (path.startsWith('/health')) {
      next();
      return;
    }
    const start = performance.now();
    this.active += 1;
    response.once('close', () => {
      const ms = performance.now() - start;
      this.active -= 1;
      this.logEnd(request, response, path, ms);
      if (this.isMeasured) this.measure(request, response, ms);
    });
    if (this.tracing.enabled) void this.trace(request, response, next);
    else next();
  };

  /**
   * Writes one line per request. Event reports that are accepted, or refused because a store is away, are summarised once
   * a second: a line for each would cost a third of the time that Express takes, and fill the disk during an outage. Only
   * `LOG_LEVEL=debug` adds it.
   */
  private logEnd(request: Request, response: Response, path: string, ms: number): void {
    const { method, requestId } = request;
    const { statusCode: status, writableFinished: isWhole } = response;
    const isEvent = method === 'POST' && path.startsWith('/v1/events');
    const isSummarised = isEvent && (status < 400 || status === 503) && isWhole;
    if (isSummarised) this.count(status);
    if (isSummarised && !this.log.isDebug) return;
    this.log[isSummarised ? 'debug' : 'info'](
      {
        requestId,
        method,
        // Without the query, whose values are customer data.
        path: path.slice(0, 200),
        status,
        ms: Math.round(ms),
        ...(!isWhole && { aborted: true }),
      },
      'request',
    );
  }

  private count(status: number): void {
    this.counts.set(status, (this.counts.get(status) ?? 0) + 1);
    this.timer ??= setTimeout(() => {
      this.log.info({ statuses: Object.fromEntries(this.counts) }, 'event requests');
      this.counts.clear();
      this.timer = undefined;
    }, SUMMARY_MS).unref();
  }

  /** Not for streams, which last for hours. */
  private measure(request: Request, response: Response, ms: number): void {
    if (response.getHeader('Content-Type') === 'text/event-stream') return;
    const labels = {
      http_request_method: request.method,
      http_route: routeOf(request) ?? '',
      // Empty if the client left before the answer began.
      http_response_status_code: response.headersSent ? response.statusCode : '',
    };
    this.durations.observe(labels, ms / 1_000);
  }

  /** Creates a span, in the trace of the request's `traceparent`. */
  private trace(request: Request, response: Response, next: NextFunction): Promise<void> {
    const { method } = request;
    const parent = request.get('traceparent');
    const attributes = { 'http.request.method': method };
    return this.tracing.span({ name: method, kind: 'server', parent, attributes }, async (span) => {
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
  }
}
