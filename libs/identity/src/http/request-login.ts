import { createParamDecorator, type ExecutionContext, Injectable } from '@nestjs/common';
import { parseCookie } from 'cookie';
import type { CookieOptions, Request } from 'express';
import {
  Answer,
  baseUrlOf,
  configOf,
  isSameOrigin,
  mayBeCsrf,
  markUnauthenticated,
  markAuthenticated,
} from '#libs/http';
import { addressGroup } from '#libs/kernel';
import { Authenticator } from '../domain/authenticator.js';
import type { BasicCredentials } from '../domain/basic-credentials.js';
import { UnauthorizedError } from '../domain/identity-errors.js';
import { LinksService } from '../domain/links.service.js';
import type { LinkMatch } from '../domain/logins.js';
import type { Match } from '../domain/password-check.js';
import { type Session, SessionsService } from '../domain/sessions.service.js';

const FROM_ANOTHER_ORIGIN = 'Credentials are ignored in a request from a page of another origin.';

/** Finds the user of a request. */
@Injectable()
export class RequestLogin {
  constructor(
    private readonly authenticator: Authenticator,
    private readonly sessions: SessionsService,
    private readonly links: LinksService,
  ) {}

  /**
   * @param body of a login, with the token of a link or with a pair
   * @throws UnauthorizedError, UnavailableError, BusyError, RateLimitedError
   */
  async withBody(
    request: Request,
    { link, username, password }: Partial<BasicCredentials> & { link?: string } = {},
  ): Promise<Match | LinkMatch> {
    if (link !== undefined) {
      const match = await this.links.authenticate(link, addressOf(request)());
      markAuthenticated(request);
      return match;
    }
    const isPair = username !== undefined && password !== undefined;
    return this.withPassword(request, isPair ? { username, password } : undefined);
  }

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
    markAuthenticated(request);
    return match;
  }

  /** @throws UnauthorizedError, UnavailableError, RateLimitedError */
  async withSession(request: Request, token: string): Promise<Session> {
    if (!isSameOrigin(request)) throw new UnauthorizedError(FROM_ANOTHER_ORIGIN);
    const session = await this.sessions.authenticate(token, addressOf(request));
    markAuthenticated(request);
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
    markUnauthenticated(request);
    return addressGroup(request.ip ?? '');
  };
}

const NAME = 'switchhook-session';
const LOOPBACK = /^http:\/\/(?:localhost|127(?:\.\d+){3}|\[::1\])(?::|\/|$)/;

/** The token of the session that a request uses. An `Authorization` header takes precedence. */
export function usedSessionOf(request: Request): string | undefined {
  const { authorization, cookie } = request.headers;
  if (authorization !== undefined || cookie === undefined) return undefined;
  return parseCookie(cookie)[cookieOf(request).name];
}

/** The {@link usedSessionOf} of the request. */
export const UsedSession = createParamDecorator((_: unknown, context: ExecutionContext) =>
  usedSessionOf(context.switchToHttp().getRequest<Request>()),
);

/**
 * An answer that also sets the cookie of a session, which ends with the browser's own session, and on our side.
 * @param token undefined to clear the cookie
 * @param isOfLink a frame in a page of another origin may need the cookie
 */
export function withSessionCookie(of: Answer, token: string | undefined, isOfLink = false): Answer {
  return new Answer((request, response, status) => {
    const mayBeFramed = configOf(request).CONSOLE_FRAME_ANCESTORS.length > 0;
    const { name, options } = cookieOf(request);
    const framed = { ...options, ...IN_FRAMES };
    // The browser would send both. Cleared first, for browsers to which they are the same.
    const [kept, other] = isOfLink && mayBeFramed ? [framed, options] : [options, framed];
    if (mayBeFramed) response.clearCookie(name, other);
    if (token === undefined) response.clearCookie(name, kept);
    else response.cookie(name, token, kept);
    return of.send(request, response, status);
  });
}

/**
 * Browsers send such a cookie from a frame in a page of another site, and only from there. Loopback counts as secure, too.
 * Requests must still come from pages of this origin ({@link isSameOrigin}).
 */
const IN_FRAMES: CookieOptions = { sameSite: 'none', secure: true, partitioned: true };

/** With `__Host-`, no other host of the domain can set the cookie; it needs TLS, which loopback does not have. */
function cookieOf(request: Request): { name: string; options: CookieOptions } {
  const secure = !LOOPBACK.test(baseUrlOf(request));
  return {
    name: secure ? `__Host-${NAME}` : NAME,
    options: { secure, httpOnly: true, sameSite: 'strict', path: '/' },
  };
}
