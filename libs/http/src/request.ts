import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { Request, Response } from 'express';
import { DomainError } from '#libs/kernel';
import type { Config } from '#libs/runtime';

/** A request of an account, until the client has received its answer. */
export interface RequestInFlight {
  /** Runs a query that is not a lookup by key. Accounts alternate on half of the connections. */
  read: <Result>(work: () => Promise<Result>) => Promise<Result>;
  /**
   * Sets how many bytes are in memory of the body, or of an answer that is not sent yet.
   * @throws RateLimitedError
   */
  hold: (bytes: number) => void;
}

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

  interface Response {
    /** See {@link endOf}. */
    endSignal?: AbortSignal;
  }
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

/** Builds absolute addresses: `href('applications', id)` is `<base>/v1/applications/<id>`. */
export type HrefBuilder = (...segments: string[]) => string;

/** The {@link HrefBuilder} of a request. The base is `PUBLIC_BASE_URL` if set, or the request's own. */
export const Href = createParamDecorator((_: unknown, context: ExecutionContext) =>
  hrefBuilder(context.switchToHttp().getRequest<Request>()),
);

export function hrefBuilder(request: Request): HrefBuilder {
  const base = baseUrlOf(request);
  return (...segments) => `${base}/v1/${segments.join('/')}`;
}

/** What every address begins with. */
export function baseUrlOf(request: Request): string {
  return configOf(request).PUBLIC_BASE_URL ?? originOf(request);
}

/** The longest host and port. Longer texts are invalid and slow to parse (RFC 1035, section 2.3.4). */
const MAX_AUTHORITY = 260;
const HOST = /^(?:[A-Za-z0-9._~-]+|\[[0-9A-Fa-f:.]+\])(?::\d{1,5})?$/;

/** Not every text that matches is a host and a port: `x:65536` and `1.2.3.256` are not. */
const isAuthority = (text: string): boolean =>
  text.length <= MAX_AUTHORITY && HOST.test(text) && URL.canParse(`http://${text}`);

function originOf(request: Request): string {
  // Express reads X-Forwarded-Proto and X-Forwarded-Host only from trusted proxies.
  const host = request.host as string | undefined;
  const { localAddress = 'localhost', localPort } = request.socket;
  const local = localAddress.includes(':') ? `[${localAddress}]` : localAddress;
  const authority =
    host !== undefined && isAuthority(host) ? host : `${local}:${String(localPort)}`;
  // A proxy may forward any value that a client sent, and schemes have no case (RFC 3986, section 3.1).
  const scheme = request.protocol.toLowerCase() === 'https' ? 'https' : 'http';
  return `${scheme}://${authority}`;
}

/** It is never sent to anyone, so all requests share it. */
const LEFT = new DomainError('request_timeout', 'request_timeout', 'The client has left.');

/**
 * The end of a request: aborted when its answer was sent or its client has disconnected. Use it to stop waiting,
 * because the event `close` may have occurred before there is a listener.
 */
export function endOf(response: Response): AbortSignal {
  response.endSignal ??= signalOf(response);
  return response.endSignal;
}

function signalOf(response: Response): AbortSignal {
  if (response.destroyed) return AbortSignal.abort(LEFT);
  const end = new AbortController();
  response.once('close', () => end.abort(LEFT));
  return end.signal;
}
