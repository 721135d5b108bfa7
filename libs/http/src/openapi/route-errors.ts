import type { CommonCode, DescribedError } from './errors.js';
import type { Route } from './routes.js';

/** Checking credentials uses the database and counts towards rate limits, and no route is for every role. */
const CREDENTIAL_ERRORS: readonly CommonCode[] = [
  'unauthorized',
  'forbidden',
  'rate_limited',
  'unavailable',
];
const BODY_ERRORS: readonly CommonCode[] = [
  'malformed_json',
  'validation_failed',
  'body_too_large',
  'unsupported_media_type',
  'request_timeout',
];

const KEY_ERRORS: readonly CommonCode[] = [
  'validation_failed',
  'idempotency_key_in_use',
  'idempotency_key_reused',
];

/** The codes of the errors of a route: those that follow from its code, and those in its description. */
export function codesOf(route: Route): Set<string> {
  return new Set<string>([
    'internal_error',
    ...(route.isOpen ? [] : CREDENTIAL_ERRORS),
    ...(route.bodyLimit === undefined ? [] : BODY_ERRORS),
    ...(Object.keys(route.query).length > 0 ? (['validation_failed'] as const) : []),
    ...(route.path.includes('{') ? (['not_found'] as const) : []),
    ...(route.checksVersion ? (['precondition_failed'] as const) : []),
    ...(route.takesKey ? KEY_ERRORS : []),
    ...route.errors.map((error) => (isDescribed(error) ? error.error.code : error)),
  ]);
}

export function isDescribed(error: CommonCode | DescribedError): error is DescribedError {
  return typeof error === 'object';
}
