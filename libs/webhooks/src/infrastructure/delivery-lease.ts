import type { Config } from '#libs/kernel';

/** Time beyond an attempt itself for queueing, loading and recording, in ms. */
const MARGIN_MS = 14_000;
/** An answer's body is read for one second more. */
const BODY_MS = 1_000;
/** What a claim lasts longer than the time-out of an attempt, in ms. */
export const BEYOND_TIMEOUT_MS = BODY_MS + MARGIN_MS;

/**
 * How long a claim lasts, in ms: longer than any attempt, so that a delivery is not sent twice
 * while its worker lives; what a lost job costs in delay when its worker does not. From the moment
 * when it is taken, a time-out of its subscription's own counts instead of the configured one.
 */
export function leaseMs(config: Config): number {
  return config.DELIVERY_TIMEOUT_MS + BEYOND_TIMEOUT_MS;
}
