import { parseCookie } from 'cookie';
import type { CookieOptions, Request, Response } from 'express';
import { baseUrlOf } from '#libs/http';

const NAME = 'switchhook-session';
const LOOPBACK = /^http:\/\/(?:localhost|127(?:\.\d+){3}|\[::1\])(?::|\/|$)/;

/** The token of the session that a request uses. An `Authorization` header takes precedence. */
export function usedSessionOf(request: Request): string | undefined {
  const { authorization, cookie } = request.headers;
  if (authorization !== undefined || cookie === undefined) return undefined;
  return parseCookie(cookie)[cookieOf(request).name];
}

/** It ends with the browser's own session, and on our side. */
export function setSessionCookie(request: Request, response: Response, token: string): void {
  const { name, options } = cookieOf(request);
  response.cookie(name, token, options);
}

export function clearSessionCookie(request: Request, response: Response): void {
  const { name, options } = cookieOf(request);
  response.clearCookie(name, options);
}

/** With `__Host-`, no other host of the domain can set the cookie; it needs TLS, which loopback does not have. */
function cookieOf(request: Request): { name: string; options: CookieOptions } {
  const secure = !LOOPBACK.test(baseUrlOf(request));
  return {
    name: secure ? `__Host-${NAME}` : NAME,
    options: { secure, httpOnly: true, sameSite: 'strict', path: '/' },
  };
}
