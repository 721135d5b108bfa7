import { randomUUID } from 'node:crypto';
import type { NextFunction, Request, RequestHandler, Response } from 'express';
import { type Actor, beginAs, DomainError } from '#libs/kernel';
import type { Config } from '#libs/runtime';
import { ambiguityIn } from './ambiguity.js';
import { cutUnlessTaken } from './connection-limits.js';
import { ANSWERED } from './http-messages.js';
import { takeNoMore } from './lingering-close.js';
import { pathOf } from './request.js';
import { setSecurityHeaders } from './security-headers.js';

/** Header lines of a request; what clients and their proxies send is a third of it at the most. */
const MAX_HEADERS = 100;
const TOO_MANY_HEADERS = `The request must have at most ${String(MAX_HEADERS)} headers.`;
const SANE_REQUEST_ID = /^[A-Za-z0-9._:@/+=-]{1,128}$/;

/** The caller's id of a request, if it is sane, else one of ours. */
export function saneRequestId(given: string | string[] | undefined): string {
  return typeof given === 'string' && SANE_REQUEST_ID.test(given) ? given : randomUUID();
}

/**
 * The first thing that every request meets: its id, its target in one form, how long its answer may
 * wait to be taken, what browsers are told, its actor.
 */
export function requestMiddleware(config: Config): RequestHandler {
  return (request: Request, response: Response, next: NextFunction) => {
    const requestId = saneRequestId(request.headers['x-request-id']);
    request.requestId = requestId;
    request.config = config;
    response.setHeader('X-Request-Id', requestId);
    cutUnlessTaken(response, config.REQUEST_TIMEOUT_MS);
    // Express would answer 304 for it, and published clients know only 200.
    if (isRead(request)) delete request.headers['if-none-match'];
    const ambiguity = ambiguityIn(request);
    useOriginForm(request);
    escapeBrokenEscapes(request);
    if (pathOf(request).startsWith('/v1')) response.setHeader('Cache-Control', 'no-store');
    setSecurityHeaders(request, response);
    if (ambiguity !== undefined) {
      response.setHeader('Connection', 'close');
      takeNoMore(request.socket);
      next(malformed(ambiguity));
    } else if (request.rawHeaders.length > 2 * MAX_HEADERS) next(malformed(TOO_MANY_HEADERS));
    else if (mayChange(request)) actUntilAnswered(actorOf(request, requestId), response, next);
    else next();
  };
}

function malformed(message: string): DomainError {
  return new DomainError('malformed', 'malformed_json', message);
}

/** The guard adds who it is. */
function actorOf({ ip }: Request, requestId: string): Actor {
  return { name: '', requestId, ...(ip !== undefined && { address: ip }) };
}

/**
 * Nothing is changed any more when there is an answer, whoever is still there to take it: a client
 * that leaves does not end what it asked for.
 */
function actUntilAnswered(actor: Actor, response: Response, next: NextFunction): void {
  const done = beginAs(actor, next);
  if (response.writableEnded) done();
  else response.once(ANSWERED, done);
}

function isRead({ method }: Request): boolean {
  return method === 'GET' || method === 'HEAD';
}

/** Whether the audit may have to be told who it was. Events, which come by the thousand, are no change. */
function mayChange(request: Request): boolean {
  return !isRead(request) && !pathOf(request).startsWith('/v1/events');
}

/** `GET http://host/path` (RFC 9112, section 3.2.2) means `/path` on that host. */
function useOriginForm(request: Request): void {
  const match = /^[a-z]+:\/\/([^/?#]*)(.*)$/i.exec(request.url);
  if (!match) return;
  const [, host, rest = ''] = match;
  if (host) request.headers.host = host.slice(host.lastIndexOf('@') + 1);
  request.url = rest.startsWith('/') ? rest : `/${rest}`;
  // What is shown of the request must not repeat user information.
  request.originalUrl = request.url;
}

/** A path with a broken percent-escape is an unknown path, not a fault of the router. */
function escapeBrokenEscapes(request: Request): void {
  if (!request.url.includes('%')) return;
  const path = pathOf(request);
  try {
    decodeURIComponent(path);
  } catch {
    request.url = path.replaceAll('%', '%25') + request.url.slice(path.length);
  }
}
