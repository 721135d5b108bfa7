import { Injectable } from '@nestjs/common';
import type { Request } from 'express';
import { isSameOrigin, mayBeCsrf, noteStranger, vouchFor } from '#libs/http';
import { addressGroup } from '#libs/kernel';
import { Authenticator } from '../domain/authenticator.js';
import type { BasicCredentials } from '../domain/basic-credentials.js';
import { UnauthorizedError } from '../domain/identity-errors.js';
import type { Match } from '../domain/password-check.js';
import { type Session, SessionsService } from '../domain/sessions.service.js';

const FROM_ANOTHER_ORIGIN =
  'Credentials do not count in a request that a page of another origin made a browser send.';

/** Finds the user of a request. */
@Injectable()
export class RequestLogin {
  constructor(
    private readonly authenticator: Authenticator,
    private readonly sessions: SessionsService,
  ) {}

  /**
   * @param pair from the body; an `Authorization` header takes precedence
   * @throws UnauthorizedError, UnavailableError, BusyError, RateLimitedError
   */
  async withPassword(request: Request, pair?: BasicCredentials): Promise<Match> {
    // Credentials that a browser adds by itself do not show that the user wants the request.
    if (mayBeCsrf(request)) throw new UnauthorizedError(FROM_ANOTHER_ORIGIN);
    const { authorization } = request.headers;
    const match =
      authorization === undefined && pair
        ? await this.authenticator.authenticatePair(pair, addressOf(request))
        : await this.authenticator.authenticate(authorization, addressOf(request));
    vouchFor(request);
    return match;
  }

  /** @throws UnauthorizedError, UnavailableError, RateLimitedError */
  async withSession(request: Request, token: string): Promise<Session> {
    if (!isSameOrigin(request)) throw new UnauthorizedError(FROM_ANOTHER_ORIGIN);
    const session = await this.sessions.authenticate(token, addressOf(request));
    vouchFor(request);
    return session;
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

/** Called only for a sender who is not known, and who may wait long for the answer. */
function addressOf(request: Request): () => string {
  return () => {
    noteStranger(request);
    return addressGroup(request.ip ?? '');
  };
}
