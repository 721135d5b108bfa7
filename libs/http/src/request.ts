import type { Request } from 'express';
import type { DomainError } from '#libs/kernel';
import type { Config } from '#libs/runtime';
import type { RequestInFlight } from './in-flight.js';

/**
 * The properties that we add to a request. Not in a `WeakMap`, whose values V8 keeps, with all that they refer
 * to, until a full garbage collection.
 */
export interface RequestState {
  /** The client's `X-Request-Id` if it is valid, or a new one. */
  requestId: string;
  config: Config;
  /** Set by the guard, for requests of accounts. */
  accountId: string;
  /** Set by the guard, for requests of accounts. */
  inFlight: RequestInFlight;
  /** Why no more of the body will arrive. */
  bodyFailure: DomainError;
  /** Fails the read of the body that is under way. */
  failBody: (reason: DomainError) => void;
}

declare module 'express-serve-static-core' {
  // eslint-disable-next-line @typescript-eslint/no-empty-object-type -- declares the added properties to Express
  interface Request extends Partial<RequestState> {}
}

/** The configuration, for decorators, which have no injection. */
export function configOf(request: Request): Config {
  if (!request.config) throw new Error('the request did not pass the request middleware');
  return request.config;
}

/** The path of the request without query and fragment; a fragment should not be there. */
export function pathOf({ url = '/' }: { url?: string | undefined }): string {
  const end = url.search(/[?#]/);
  return end < 0 ? url : url.slice(0, end);
}
