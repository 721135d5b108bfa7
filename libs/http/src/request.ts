import type { Request } from 'express';
import type { Config } from '#libs/runtime';
import type { RequestInFlight } from './in-flight.js';

/** What our middleware leaves on a request. */
export interface RequestState {
  /** The caller's `X-Request-Id` if it is sane, else ours. */
  requestId: string;
  config: Config;
  /** Set by the guard on requests of accounts. */
  inFlight: RequestInFlight;
}

declare module 'express-serve-static-core' {
  // eslint-disable-next-line @typescript-eslint/no-empty-object-type -- Express is told so of what middleware adds
  interface Request extends Partial<RequestState> {}
}

/** The configuration, for decorators, which nothing is injected into. */
export function configOf(request: Request): Config {
  if (!request.config) throw new Error('the request did not pass the request middleware');
  return request.config;
}

/** The path of the request, without its query, and without the fragment that none should have. */
export function pathOf(request: Request): string {
  const end = request.url.search(/[?#]/);
  return end < 0 ? request.url : request.url.slice(0, end);
}
