import type { NestExpressApplication } from '@nestjs/platform-express';
import type { Request } from 'express';
import { methodsOf } from './known-methods.js';

type Options = Parameters<NestExpressApplication['enableCors']>[0];
type Callback = (error: null, options: object) => void;

/** How long a browser may cache a preflight answer, in seconds. */
const MAX_AGE_S = 600;

const ALLOWED_HEADERS = [
  ...['Authorization', 'Content-Type', 'Idempotency-Key', 'If-Match', 'Prefer', 'X-Request-Id'],
];

/** The headers that a script may read, besides type and length. */
const EXPOSED_HEADERS = [
  ...['Allow', 'ETag', 'Idempotency-Replayed', 'Link', 'Location', 'RateLimit', 'RateLimit-Policy'],
  ...['Preference-Applied', 'Retry-After', 'X-Request-Id'],
];

/**
 * Lets pages of these origins call the API (Fetch standard, "CORS protocol"). Their preflights are answered
 * without credentials, because browsers send none, but only for known paths. Any other OPTIONS request is
 * handled as usual. Credentials mode is off, because there are no cookies.
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
