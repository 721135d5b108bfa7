import { randomUUID } from 'node:crypto';
import type { IncomingMessage, Server } from 'node:http';
import { isIP } from 'node:net';
import type { NextFunction, Request, RequestHandler, Response } from 'express';
import ipaddr from 'ipaddr.js';
import type { Config } from '#libs/runtime';
import { disconnectStalledReader, MAX_HEADERS } from './connection-limits.js';
import { ignoreFurtherRequests } from './connection-close.js';
import { malformed } from './problem.js';
import { pathOf } from './request.js';
import { setSecurityHeaders } from './browsers.js';

const TOO_MANY_HEADERS = `The request must have at most ${String(MAX_HEADERS)} headers.`;
const SANE_REQUEST_ID = /^[A-Za-z0-9._:@/+=-]{1,128}$/;

/** The client's request id if it is valid, or a new one. */
export function saneRequestId(given: string | string[] | undefined): string {
  return typeof given === 'string' && SANE_REQUEST_ID.test(given) ? given : randomUUID();
}

/**
 * Runs first for every request: sets its id, the timeout for reading the answer and security headers, and
 * normalises its target.
 * @param server its timeout for receiving a request is also the one for reading the answer
 */
export function requestMiddleware(
  config: Config,
  server: Pick<Server, 'requestTimeout'>,
): RequestHandler {
  return (request: Request, response: Response, next: NextFunction) => {
    const requestId = saneRequestId(request.headers['x-request-id']);
    request.requestId = requestId;
    request.config = config;
    response.setHeader('X-Request-Id', requestId);
    disconnectStalledReader(response, server.requestTimeout);
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

/** The longest path. Known ones are a fifth of that, and the router compares a path with every route. */
const MAX_PATH = 1_024;

/** Cuts a path that is too long. It stays an unknown path. */
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

/**
 * Finds a part of a request that a proxy in front of us may interpret differently, which allows request
 * smuggling (RFC 9112, section 11.2). Node's parser refuses most such requests; this catches the rest. A
 * target in absolute form with a different Host is not ambiguous, because the header is then ignored (section
 * 3.2.2).
 * @returns the error message, if there is such a part
 */
function ambiguityIn(request: IncomingMessage): string | undefined {
  const { httpVersionMajor, httpVersionMinor, headers, rawHeaders } = request;
  if (httpVersionMajor !== 1) return 'The version of HTTP must be 1.0 or 1.1.';
  const encoding = headers['transfer-encoding'];
  if (encoding !== undefined && (encoding.toLowerCase() !== 'chunked' || httpVersionMinor === 0)) {
    return 'The header Transfer-Encoding must be chunked or absent, and absent in HTTP/1.0.';
  }
  if (hasTwoHosts(rawHeaders)) return 'The header Host must be given only once.';
  return undefined;
}

function hasTwoHosts(rawHeaders: readonly string[]): boolean {
  let hosts = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at]!;
    if (name.length === 4 && name.toLowerCase() === 'host') hosts += 1;
  }
  return hosts > 1;
}

/** Reads only the end of the header, enough for more than ten proxies: anybody can send a longer one. */
const MAX_LENGTH = 512;
/** An address with a port, or in brackets: `192.0.2.1:5678`, `[2001:db8::1]:5678`, `[2001:db8::1]`. */
const WITH_PORT = /^(?:\[(.*)\]|([^:]*))(?::\d{1,5})?$/;

/**
 * Removes ports from `X-Forwarded-For`, which Express does not understand. Stops at an entry that is no address, such
 * as `unknown`: then the proxy that added it counts as the client.
 */
export const readForwardedFor: RequestHandler = ({ headers }, _, next) => {
  const header = headers['x-forwarded-for'];
  if (typeof header === 'string') headers['x-forwarded-for'] = addressesIn(header).join(', ');
  next();
};

function addressesIn(header: string): string[] {
  const entries = header.slice(-MAX_LENGTH).split(',');
  // It may be the end of a longer one.
  if (header.length > MAX_LENGTH) entries.shift();
  const addresses: string[] = [];
  for (const entry of entries.reverse()) {
    const text = entry.trim();
    // A list may have empty elements (RFC 9110, section 5.6.1).
    if (text === '') continue;
    const address = addressIn(text);
    if (address === undefined) break;
    addresses.unshift(address);
  }
  return addresses;
}

/** The address of an entry in canonical form. */
function addressIn(entry: string): string | undefined {
  const [, bracketed, plain] = WITH_PORT.exec(entry) ?? [];
  const address = bracketed ?? plain ?? entry;
  return isIP(address) === 0 ? undefined : ipaddr.process(address).toString();
}
