import type { Config } from '#libs/runtime';

/** Time of a lease beyond the timeout, in ms: to wait for the call, read the body and record the outcome. */
export const BEYOND_TIMEOUT_MS = 15_000;
/** Least remaining time beyond the timeout, in ms, when a worker takes a job; else the lease is extended. */
export const LEFT_BEYOND_TIMEOUT_MS = 6_000;

/**
 * How long a lease lasts, in ms. It is longer than any attempt, so that no delivery is sent twice while
 * its worker is alive. It is also the delay after a job or worker was lost. Once a worker has the
 * delivery, the subscription's timeout replaces the configured one.
 */
export function leaseMs(config: Config): number {
  return config.DELIVERY_TIMEOUT_MS + BEYOND_TIMEOUT_MS;
}
