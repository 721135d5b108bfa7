import { Injectable } from '@nestjs/common';
import type { NextFunction, Request, Response } from 'express';
import type { Histogram } from 'prom-client';
import { Metrics } from '#libs/runtime';
import { routeOf } from './known-methods.js';
import { pathOf } from './request.js';

type Label = 'http_request_method' | 'http_route' | 'http_response_status_code';

/** Measures requests, except for health requests and, as they last for hours, streams. Names of metrics and labels are OpenTelemetry's. */
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
