import { Injectable } from '@nestjs/common';
import type { Request } from 'express';
import { isSameOrigin, mayBeCsrf } from '#libs/http';
import { addressGroup } from '#libs/kernel';
import { Authenticator } from '../domain/authenticator.js';
import { UnauthorizedError } from '../domain/identity-errors.js';
import type { Match } from '../domain/password-check.js';
import type { Session } from '../domain/session.js';
import { SessionsService } from '../domain/sessions.service.js';

const FROM_ANOTHER_ORIGIN =
  'Credentials do not count in a request that a page of another origin made a browser send.';

/** Finds the user of a request. */
@Injectable()
export class RequestLogin {
  constructor(
    private readonly authenticator: Authenticator,
    private readonly sessions: SessionsService,
  ) {}

  /** @throws UnauthorizedError, UnavailableError, BusyError, RateLimitedError */
  async withPassword(request: Request, header = request.headers.authorization): Promise<Match> {
    // Credentials that a browser adds by itself do not show that the user wants the request.
    if (mayBeCsrf(request)) throw new UnauthorizedError(FROM_ANOTHER_ORIGIN);
    return this.authenticator.authenticate(header, addressOf(request));
  }

  /** @throws UnauthorizedError, UnavailableError, RateLimitedError */
  async withSession(request: Request, token: string): Promise<Session> {
    if (!isSameOrigin(request)) throw new UnauthorizedError(FROM_ANOTHER_ORIGIN);
    return this.sessions.authenticate(token, addressOf(request));
  }

  /**
   * Whether the login of a request is still valid. It is the service that asks, so this is no login: it does
   * not count, whatever the result.
   * @throws UnavailableError
   */
  isStillValid({ headers }: Request, match: Match | Session): Promise<boolean> {
    if ('hash' in match) return this.sessions.isValid(match);
    return this.authenticator.isValid(headers.authorization ?? '', match);
  }
}

function addressOf(request: Request): () => string {
  return () => addressGroup(request.ip ?? '');
}
