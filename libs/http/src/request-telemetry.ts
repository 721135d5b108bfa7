import { Inject, Injectable } from '@nestjs/common';
import type { NextFunction, Request, Response } from 'express';
import { CONFIG, type Config, Log } from '#libs/runtime';
import { pathOf } from './request.js';

const SUMMARY_MS = 1_000;

/**
 * Logs one line per request. Accepted events are summarised once a second unless `LOG_EVENTS=all`, because a
 * line for each would cost a third of the time that Express takes.
 */
@Injectable()
export class RequestLog {
  private readonly everyEvent: boolean;
  private readonly counts = new Map<number, number>();
  private timer: NodeJS.Timeout | undefined;

  constructor(
    @Inject(CONFIG) config: Config,
    private readonly log: Log,
  ) {
    this.everyEvent = config.LOG_EVENTS === 'all';
  }

  readonly middleware = (request: Request, response: Response, next: NextFunction): void => {
    const path = pathOf(request);
    if (path.startsWith('/health')) {
      next();
      return;
    }
    const start = performance.now();
    const isSummarised =
      !this.everyEvent && request.method === 'POST' && path.startsWith('/v1/events');
    response.once('close', () => {
      if (isSummarised && response.statusCode < 400 && response.writableFinished)
        this.count(response.statusCode);
      else {
        this.log.info(
          {
            requestId: request.requestId,
            method: request.method,
            // Without the query, whose values are customer data.
            path: path.slice(0, 200),
            status: response.statusCode,
            ms: Math.round(performance.now() - start),
            ...(!response.writableFinished && { aborted: true }),
          },
          'request',
        );
      }
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
