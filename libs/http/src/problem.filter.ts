import { addAbortListener } from 'node:events';
import {
  type ArgumentsHost,
  Catch,
  type ExceptionFilter,
  HttpException,
  Injectable,
} from '@nestjs/common';
import type { Request, Response } from 'express';
import {
  addressGroup,
  BusyError,
  DomainError,
  InternalError,
  LRUCache,
  NotFoundError,
} from '#libs/kernel';
import { FailureLog, Log, translateDatabaseError } from '#libs/runtime';
import { MethodNotAllowedError, NoRouteError, noRouteFor } from './known-routes.js';
import { RATE_LIMIT_HEADERS } from './openapi/components.js';
import { PROBLEM_TYPE, problemOf, STATUS_OF } from './problem.js';
import { endOf } from './request.js';
import { noteRefused } from './unauthenticated-connections.js';

/** The `Retry-After` of a client while a store is unavailable. */
const RETRY_AFTER_S = 5;

/** The time between two refusals of the same party: an account or, before a login, an address. */
const APART_MS = 100;
const LONGEST_MS = 5_000;
/** Parties to remember. */
const REMEMBERED = 5_000;

/**
 * Slows down an address or account that keeps being refused. A refusal costs about as much as a success,
 * and clients that retry immediately would keep the process busy with nothing else.
 */
@Injectable()
export class Refusals {
  /** When each party's next refusal may be sent. */
  private readonly due = new LRUCache<string, number>({ max: REMEMBERED });

  /**
   * Resolves when this party's refusal may be sent: the first at once, then ten a second.
   * @param end the end of its request, after which nobody waits for it
   */
  async throttle(party: string, end: () => AbortSignal): Promise<void> {
    const now = performance.now();
    const next = Math.max(now, this.due.get(party) ?? 0);
    const isFull = next > now + LONGEST_MS;
    if (!isFull) this.due.set(party, next + APART_MS);
    // Random, because refusals beyond the limit would otherwise all be sent together.
    const due = isFull ? now + LONGEST_MS * (1 - Math.random() / 5) : next;
    if (due <= now) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, due - now);
      addAbortListener(end(), () => {
        clearTimeout(timer);
        resolve();
      });
    });
  }
}

const FAILED = 'request failed';

/** Answers every error in the one error format; an unknown error becomes a 500 without details. */
@Catch()
export class ProblemFilter implements ExceptionFilter {
  constructor(
    private readonly log: Log,
    private readonly failures: FailureLog,
    private readonly refusals: Refusals,
  ) {}

  catch(thrown: unknown, host: ArgumentsHost): void {
    const request = host.switchToHttp().getRequest<Request>();
    const response = host.switchToHttp().getResponse<Response>();
    const error = domainErrorOf(thrown, request);
    // Under overload, logging a stack for each request would make it worse.
    if (STATUS_OF[error.kind] >= 500 && !(error instanceof BusyError)) {
      const fields = { requestId: request.requestId, err: thrown };
      if (error.kind === 'unavailable') this.failures.failed(thrown, fields, FAILED);
      else this.log.error(fields, FAILED);
    }
    if (response.headersSent) {
      // A client must not mistake half a list for a whole one.
      request.socket.destroy();
      return;
    }
    const body = this.prepare(error, request, response);
    const answer = (): void => {
      response.end(body);
    };
    if (!isRefusal(error, request)) {
      answer();
      return;
    }
    const party = partyOf(request);
    if (request.accountId === undefined) noteRefused(request);
    void this.refusals.throttle(party, () => endOf(response)).then(answer);
  }

  /** @returns the body of the answer */
  private prepare(error: DomainError, request: Request, response: Response): string | undefined {
    // The login of a request that waits may end.
    if (error.kind === 'unauthorized') {
      for (const name of RATE_LIMIT_HEADERS) response.removeHeader(name);
    }
    // On our own pages, the browser would open its login dialog before the page sees the answer.
    if (error.kind === 'unauthorized' && request.get('Sec-Fetch-Site') !== 'same-origin') {
      response.setHeader('WWW-Authenticate', 'Basic realm="switchhook", charset="UTF-8"');
    }
    if (error instanceof MethodNotAllowedError) response.setHeader('Allow', error.allowed);
    const wait = error.retryAfterS ?? (error.kind === 'unavailable' ? RETRY_AFTER_S : undefined);
    if (wait !== undefined) response.setHeader('Retry-After', String(wait));
    const body = problemOf(error, {
      instance: request.originalUrl,
      requestId: request.requestId ?? '',
    });
    response.status(STATUS_OF[error.kind]);
    response.setHeader('Content-Type', PROBLEM_TYPE);
    return request.method === 'HEAD' ? undefined : JSON.stringify(body);
  }
}

function domainErrorOf(thrown: unknown, request: Request): DomainError {
  if (thrown instanceof NoRouteError) return noRouteFor(request);
  const error = translateDatabaseError(thrown);
  if (error instanceof DomainError) return error;
  if (error instanceof HttpException && error.getStatus() === 404) return new NotFoundError('path');
  return new InternalError();
}

const REFUSALS: ReadonlySet<DomainError['kind']> = new Set(['unauthorized', 'rate_limited']);

/**
 * Includes BusyError, because hundreds of waiting requests may time out at once, and oversized logins, which are
 * free to repeat.
 */
function isRefusal(error: DomainError, { accountId }: Request): boolean {
  const isLongLogin = error.kind === 'too_large' && accountId === undefined;
  return REFUSALS.has(error.kind) || error instanceof BusyError || isLongLogin;
}

function partyOf({ accountId, ip = '' }: Request): string {
  return accountId ?? addressGroup(ip);
}
