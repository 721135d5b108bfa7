import type { Config } from '#libs/kernel';

/** Time beyond an attempt itself for queueing, loading and recording, in ms. */
const MARGIN_MS = 14_000;
/** An answer's body is read for one second more. */
const BODY_MS = 1_000;

/**
 * How long a claim lasts, in ms: longer than any attempt, so that a delivery is not sent twice
 * while its worker lives; what a lost job costs in delay when its worker does not.
 */
export function leaseMs(config: Config): number {
  return config.DELIVERY_TIMEOUT_MS + BODY_MS + MARGIN_MS;
}
