/** What a customer wants instead of the configured retries; what is absent is as configured. */
export interface RetryPolicy {
  /** Delays before the retries, in s; none: one attempt. */
  schedule?: number[];
  /** Until the status line and headers of the answer. */
  timeoutMs?: number;
}

/** What a policy may ask for. */
export const MAX_RETRIES = 20;
export const DELAY_SECONDS = { min: 1, max: 86_400 };
export const TIMEOUT_MS = { min: 1_000, max: 20_000 };

/** The schedule in ms. @param configured what holds where the policy says nothing, in ms */
export function scheduleOf(
  policy: RetryPolicy | undefined,
  configured: readonly number[],
): readonly number[] {
  return policy?.schedule?.map((seconds) => seconds * 1_000) ?? configured;
}
