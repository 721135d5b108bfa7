import type { Response } from 'express';
import { DomainError } from '#libs/kernel';

declare module 'express-serve-static-core' {
  interface Response {
    /** See {@link endOf}. */
    endSignal?: AbortSignal;
  }
}

/** Nobody receives it, so all requests share it. */
const LEFT = new DomainError('request_timeout', 'request_timeout', 'The client has left.');

/**
 * The end of a request: aborted once its answer was sent, or its client has left. Work for a request that
 * waits for anything stops with this signal, because the event `close` may have occurred before somebody
 * listens for it, and does not occur again.
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
