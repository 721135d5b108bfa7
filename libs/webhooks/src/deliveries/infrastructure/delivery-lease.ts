import type { Config } from '#libs/runtime';

/** What a lease lasts longer than the timeout of an attempt, ms: to wait for its call, to read the body, to record. */
export const BEYOND_TIMEOUT_MS = 15_000;
/** What has to be left of it, ms, when a worker takes a delivery over from the queue; else it begins anew. */
export const LEFT_BEYOND_TIMEOUT_MS = 6_000;

/**
 * How long a lease lasts, in ms: longer than any attempt, so that a delivery is not sent twice while its
 * worker lives; what a lost job costs in delay when its worker does not. From the moment when a worker
 * has it, a timeout of its subscription's own counts instead of the configured one.
 */
export function leaseMs(config: Config): number {
  return config.DELIVERY_TIMEOUT_MS + BEYOND_TIMEOUT_MS;
}
