import type { NestExpressApplication } from '@nestjs/platform-express';
import type { Request, Response } from 'express';
import helmet from 'helmet';
import { baseUrlOf, configOf, pathOf } from './request.js';
import { methodsOf } from './known-routes.js';
import { isJson } from './read-body.js';

/**
 * Whether this may be cross-site request forgery: a page of another origin makes a browser send the request
 * with a remembered password. Without a preflight, browsers only send what a form can send, which is a POST
 * without JSON (Fetch standard, "CORS-safelisted request-header").
 */
export function mayBeCsrf(request: Request): boolean {
  if (request.method !== 'POST' || isJson(request)) return false;
  const { origin, 'sec-fetch-site': site } = request.headers;
  if (origin !== undefined && configOf(request).CORS_ORIGINS.includes(origin)) return false;
  if (site !== undefined) return site !== 'same-origin' && site !== 'none';
  // Over plain HTTP, browsers send only Origin; other clients send neither header.
  return origin !== undefined && !isOwn(origin, request);
}

/** Whether a page of our own origin made a browser send the request, as far as the browser says. */
export function isSameOrigin(request: Request): boolean {
  const { origin, 'sec-fetch-site': site } = request.headers;
  if (site !== undefined) return site === 'same-origin';
  if (origin !== undefined) return isOwn(origin, request);
  // Older browsers send neither header with a GET to the own origin.
  return request.method === 'GET' || request.method === 'HEAD';
}

/** Compares whole origins as browsers write them: scheme, host and port (RFC 6454, section 6.2). */
function isOwn(origin: string, request: Request): boolean {
  return origin === new URL(baseUrlOf(request)).origin;
}

type Options = Parameters<NestExpressApplication['enableCors']>[0];
type Callback = (error: null, options: object) => void;

/** How long a browser may cache a preflight answer, in seconds. */
const MAX_AGE_S = 600;

const ALLOWED_HEADERS = [
  ...['Authorization', 'Content-Type', 'Idempotency-Key', 'If-Match', 'Prefer'],
  ...['Switchhook-Account', 'X-Request-Id'],
];

/** The headers that a script may read, besides type and length. */
const EXPOSED_HEADERS = [
  ...['Allow', 'ETag', 'Idempotency-Replayed', 'Link', 'Location', 'RateLimit', 'RateLimit-Policy'],
  ...['Preference-Applied', 'Retry-After', 'Switchhook-Searched-To', 'X-Request-Id'],
];

/**
 * Lets pages of these origins call the API (Fetch standard, "CORS protocol"). Their preflights are answered
 * without credentials, because browsers send none, but only for known paths. Any other OPTIONS request is
 * handled as usual. Credentials mode is off: the session cookie is for our own origin.
 */
export function corsFor(origins: readonly string[]): Options {
  return (request: Request, callback: Callback) => {
    const { method, headers } = request;
    const isPreflight = method === 'OPTIONS' && 'access-control-request-method' in headers;
    const methods = isPreflight && origins.includes(headers.origin ?? '') ? methodsOf(request) : [];
    const applies = method !== 'OPTIONS' || methods.length > 0;
    callback(null, {
      origin: applies && origins,
      methods,
      allowedHeaders: ALLOWED_HEADERS,
      exposedHeaders: EXPOSED_HEADERS,
      maxAge: MAX_AGE_S,
    });
  };
}

/** Paths for programs: a browser that opens one must not render the answer. */
const FOR_PROGRAMS = /^\/(?:v1|health)(?:\/|$)/;
const NOTHING = "default-src 'none'; frame-ancestors 'none'";

const forBrowsers = helmet({
  // Without the defaults, which would make pages on plain HTTP load their resources over TLS.
  contentSecurityPolicy: {
    useDefaults: false,
    directives: {
      defaultSrc: ["'none'"],
      baseUri: ["'none'"],
      formAction: ["'none'"],
      frameAncestors: ["'none'"],
    },
  },
  xFrameOptions: { action: 'deny' },
  // The TLS proxy sets it; it must not be sent over plain HTTP (RFC 6797, section 7.2).
  strictTransportSecurity: false,
});

/**
 * Sets headers that restrict browsers. Programs ignore them and each costs up to a microsecond, so answers
 * under `/v1/` have only two, and answers to POST one, because no page can show those in a frame.
 */
export function setSecurityHeaders(request: Request, response: Response): void {
  if (FOR_PROGRAMS.test(pathOf(request))) {
    response.setHeader('X-Content-Type-Options', 'nosniff');
    if (request.method !== 'POST') response.setHeader('Content-Security-Policy', NOTHING);
  } else {
    forBrowsers(request, response, () => undefined);
  }
}
