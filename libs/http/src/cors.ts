import type { NestExpressApplication } from '@nestjs/platform-express';
import type { Request } from 'express';
import { methodsOf } from './known-methods.js';

type Options = Parameters<NestExpressApplication['enableCors']>[0];
type Callback = (error: null, options: object) => void;

/** How long a browser need not ask again, in seconds. */
const MAX_AGE_S = 600;

const ALLOWED_HEADERS = [
  ...['Authorization', 'Content-Type', 'Idempotency-Key', 'If-Match', 'X-Request-Id'],
];

/** What a script may read of an answer, beside its type and length. */
const EXPOSED_HEADERS = [
  ...['Allow', 'ETag', 'Idempotency-Replayed', 'Link', 'Location', 'RateLimit', 'RateLimit-Policy'],
  ...['Retry-After', 'X-Request-Id'],
];

/**
 * Lets pages of these origins call us (Fetch standard, "CORS protocol"). A preflight of theirs is
 * answered without credentials, since browsers send none with it, and only where the path is known;
 * any other OPTIONS request goes its usual way. Cookies are none of it: there are none.
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
