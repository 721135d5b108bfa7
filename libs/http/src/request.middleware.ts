import { randomUUID } from 'node:crypto';
import type { NextFunction, Request, RequestHandler, Response } from 'express';
import { DomainError } from '#libs/kernel';
import type { Config } from '#libs/runtime';
import { ambiguityIn } from './ambiguity.js';
import { disconnectStalledReader, MAX_HEADERS } from './connection-limits.js';
import { ignoreFurtherRequests } from './lingering-close.js';
import { pathOf } from './request.js';
import { setSecurityHeaders } from './security-headers.js';

const TOO_MANY_HEADERS = `The request must have at most ${String(MAX_HEADERS)} headers.`;
const SANE_REQUEST_ID = /^[A-Za-z0-9._:@/+=-]{1,128}$/;

/** The client's request id if it is valid, or a new one. */
export function saneRequestId(given: string | string[] | undefined): string {
  return typeof given === 'string' && SANE_REQUEST_ID.test(given) ? given : randomUUID();
}

/**
 * Runs first for every request: sets its id, the timeout for reading the answer and security headers, and
 * normalises its target.
 */
export function requestMiddleware(config: Config): RequestHandler {
  return (request: Request, response: Response, next: NextFunction) => {
    const requestId = saneRequestId(request.headers['x-request-id']);
    request.requestId = requestId;
    request.config = config;
    response.setHeader('X-Request-Id', requestId);
    disconnectStalledReader(response, config.REQUEST_TIMEOUT_MS);
    // With this header Express would answer 304, but published clients expect 200.
    if (isRead(request)) delete request.headers['if-none-match'];
    const ambiguity = ambiguityIn(request);
    useOriginForm(request);
    shortenPath(request);
    escapeInvalidEscapes(request);
    if (pathOf(request).startsWith('/v1')) response.setHeader('Cache-Control', 'no-store');
    setSecurityHeaders(request, response);
    if (ambiguity !== undefined) {
      response.setHeader('Connection', 'close');
      ignoreFurtherRequests(request.socket);
      next(malformed(ambiguity));
    } else if (request.rawHeaders.length > 2 * MAX_HEADERS) next(malformed(TOO_MANY_HEADERS));
    else next();
  };
}

function malformed(message: string): DomainError {
  return new DomainError('malformed', 'malformed_json', message);
}

function isRead({ method }: Request): boolean {
  return method === 'GET' || method === 'HEAD';
}

/** `GET http://host/path` (RFC 9112, section 3.2.2) means `/path` on that host. */
function useOriginForm(request: Request): void {
  const match = /^[a-z]+:\/\/([^/?#]*)(.*)$/i.exec(request.url);
  if (!match) return;
  const [, host, rest = ''] = match;
  if (host) request.headers.host = host.slice(host.lastIndexOf('@') + 1);
  request.url = rest.startsWith('/') ? rest : `/${rest}`;
  // Error answers show the target, which must not contain user information.
  request.originalUrl = request.url;
}

/** The longest path: no known one has a fifth of that, and the router compares each with all that it knows. */
const MAX_PATH = 1_024;

/** Makes a path that is too long a shorter one, which is as unknown. */
function shortenPath(request: Request): void {
  if (request.url.length <= MAX_PATH) return;
  const path = pathOf(request);
  if (path.length <= MAX_PATH) return;
  // A slice would keep the whole text in memory.
  request.url = Buffer.from(path.slice(0, MAX_PATH)).toString();
  request.originalUrl = request.url;
}

/** Makes a path with an invalid percent-escape an unknown path instead of a router error. */
function escapeInvalidEscapes(request: Request): void {
  if (!request.url.includes('%')) return;
  const path = pathOf(request);
  try {
    decodeURIComponent(path);
  } catch {
    request.url = path.replaceAll('%', '%25') + request.url.slice(path.length);
  }
}
