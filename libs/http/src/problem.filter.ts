import { type ArgumentsHost, Catch, type ExceptionFilter, HttpException } from '@nestjs/common';
import type { Request, Response } from 'express';
import { addressGroup, BusyError, DomainError, NotFoundError } from '#libs/kernel';
import { Log, translateDatabaseError } from '#libs/runtime';
import { PROBLEM_TYPE, problemOf, STATUS_OF } from './problem.js';
import { Refusals } from './refusals.js';
import { endOf } from './request-end.js';
import { noteRefused } from './strangers.js';

/** The `Retry-After` of a client while a store is unavailable. */
const RETRY_AFTER_S = 5;

/** Answers every error in the one error format; an unknown error becomes a 500 without details. */
@Catch()
export class ProblemFilter implements ExceptionFilter {
  constructor(
    private readonly log: Log,
    private readonly refusals: Refusals,
  ) {}

  catch(thrown: unknown, host: ArgumentsHost): void {
    const request = host.switchToHttp().getRequest<Request>();
    const response = host.switchToHttp().getResponse<Response>();
    const error = this.domainErrorOf(thrown);
    // Under overload, logging a stack for each request would make it worse.
    if (STATUS_OF[error.kind] >= 500 && !(error instanceof BusyError)) {
      this.log.error({ requestId: request.requestId, err: thrown }, 'request failed');
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
    void this.refusals.pace(party, () => endOf(response)).then(answer);
  }

  /** @returns the body of the answer */
  private prepare(error: DomainError, request: Request, response: Response): string | undefined {
    // To a page of ours, a browser would show its own dialog before the page learns of it.
    if (error.kind === 'unauthorized' && request.get('Sec-Fetch-Site') !== 'same-origin') {
      response.setHeader('WWW-Authenticate', 'Basic realm="switchhook", charset="UTF-8"');
    }
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

  private domainErrorOf(thrown: unknown): DomainError {
    const error = translateDatabaseError(thrown);
    if (error instanceof DomainError) return error;
    if (error instanceof HttpException && error.getStatus() === 404)
      return new NotFoundError('path');
    return new DomainError('internal', 'internal_error', 'Something went wrong on our side.');
  }
}

const REFUSALS: ReadonlySet<DomainError['kind']> = new Set(['unauthorized', 'rate_limited']);

/**
 * Includes BusyError, because hundreds of waiting requests may time out at once, and logins that are too long,
 * which cost anybody nothing to repeat.
 */
function isRefusal(error: DomainError, { accountId }: Request): boolean {
  const isLongLogin = error.kind === 'too_large' && accountId === undefined;
  return REFUSALS.has(error.kind) || error instanceof BusyError || isLongLogin;
}

function partyOf({ accountId, ip = '' }: Request): string {
  return accountId ?? addressGroup(ip);
}
