import { Injectable } from '@nestjs/common';
import type { Request } from 'express';
import { isSameOrigin, mayBeCsrf } from '#libs/http';
import { addressGroup, BusyError, RateLimitedError } from '#libs/kernel';
import { Authenticator } from '../domain/authenticator.js';
import { UnauthorizedError } from '../domain/identity-errors.js';
import type { Match } from '../domain/password-check.js';
import { SessionsService } from '../domain/sessions.service.js';
import { Refusals } from './refusals.js';

const FROM_ANOTHER_ORIGIN =
  'Credentials do not count in a request that a page of another origin made a browser send.';

/** Finds the user of a request, and slows down an address that keeps being refused. */
@Injectable()
export class RequestLogin {
  constructor(
    private readonly authenticator: Authenticator,
    private readonly sessions: SessionsService,
    private readonly refusals: Refusals,
  ) {}

  /** @throws UnauthorizedError, UnavailableError, BusyError, RateLimitedError */
  withPassword(request: Request, header = request.headers.authorization): Promise<Match> {
    return this.paced(request, (addressOf) => {
      // Credentials that a browser adds by itself do not show that the user wants the request.
      if (mayBeCsrf(request)) throw new UnauthorizedError(FROM_ANOTHER_ORIGIN);
      return this.authenticator.authenticate(header, addressOf);
    });
  }

  /** @throws UnauthorizedError, UnavailableError, RateLimitedError */
  withSession(request: Request, token: string): Promise<Match> {
    return this.paced(request, (addressOf) => {
      if (!isSameOrigin(request)) throw new UnauthorizedError(FROM_ANOTHER_ORIGIN);
      return this.sessions.authenticate(token, addressOf);
    });
  }

  private async paced<Login>(
    request: Request,
    attempt: (addressOf: () => string) => Promise<Login>,
  ): Promise<Login> {
    const addressOf = () => addressGroup(request.ip ?? '');
    try {
      return await attempt(addressOf);
    } catch (error) {
      if (isRefusal(error)) await this.refusals.pace(addressOf());
      throw error;
    }
  }
}

/** Includes BusyError, because hundreds of waiting checks may time out at once. */
function isRefusal(error: unknown): boolean {
  return [UnauthorizedError, RateLimitedError, BusyError].some((each) => error instanceof each);
}
