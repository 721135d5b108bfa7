/** A customer's overrides of the configured retries. Absent values are as configured. */
export interface RetryPolicy {
  /** Delays before the retries, in seconds. An empty list means one attempt. */
  schedule?: number[];
  /** Time limit for the status line and headers of the answer. */
  timeoutMs?: number;
}

/** Limits of a policy. */
export const MAX_RETRIES = 20;
export const DELAY_SECONDS = { min: 1, max: 86_400 };
export const TIMEOUT_MS = { min: 1_000, max: 20_000 };

/** The schedule in ms. @param configured the default, in ms */
export function scheduleOf(
  policy: RetryPolicy | null,
  configured: readonly number[],
): readonly number[] {
  return policy?.schedule?.map((seconds) => seconds * 1_000) ?? configured;
}
