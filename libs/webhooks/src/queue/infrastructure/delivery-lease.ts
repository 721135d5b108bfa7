/** Time of a lease beyond the timeout, in ms: to wait for the call, read the body and record the outcome. */
const BEYOND_TIMEOUT_MS = 15_000;

/**
 * The length of a lease, an interval. It is longer than any attempt, so that no delivery is sent twice while its
 * worker is alive. It is also the delay after a job or worker was lost.
 * @param retry the policy of the delivery's subscription; its timeout replaces `@timeoutMs`
 */
export const leaseOf = (retry: string): string =>
  `make_interval(secs => (coalesce((${retry} ->> 'timeoutMs')::float8, @timeoutMs::float8) + ${String(BEYOND_TIMEOUT_MS)}) / 1000)`;
