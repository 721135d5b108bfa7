import { expect, it } from 'vitest';
import {
  type AttemptHistoryStore,
  type CountedAttempt,
  historyOf,
  STEP_MS,
} from './attempt-history.js';

/** A store of counted attempts under test. */
export interface AttemptHistoryUnderTest {
  history: () => AttemptHistoryStore;
  count: (...attempts: CountedAttempt[]) => Promise<void>;
}

const SINCE_MS = Date.parse('2026-01-31T12:00:00Z');
let lastAccount = 700;

/** What every implementation of {@link AttemptHistoryStore} must do. */
export function attemptHistoryContract({ history, count }: AttemptHistoryUnderTest): void {
  const buckets = { sinceMs: SINCE_MS, widthMs: 2 * STEP_MS, count: 3 };
  const aCustomer = () => String((lastAccount += 1));
  const at = (steps: number) => new Date(SINCE_MS + steps * STEP_MS);
  const read = async (accountId: string, webhookId?: string) =>
    historyOf(buckets, await history().counts(accountId, webhookId, buckets));

  it('counts attempts by the bucket in which they began, up to its end', async () => {
    const accountId = aCustomer();
    const steps = [-0.01, 0, 1.99, 2, 5.99, 6];
    const attempts = steps.map((step) => ({ at: at(step), status: 200, durationMs: 10 }));
    await count(...attempts.map((attempt) => ({ accountId, webhookId: '1', attempt })));
    const found = await read(accountId, '1');
    expect(found.buckets.map((bucket) => bucket.attempts)).toEqual([2, 1, 1]);
    expect(found).toMatchObject({ attempts: 4, outcomes: { '2xx': 4 } });
  });

  it("counts a subscription's attempts, or those of all of the account's", async () => {
    const [accountId, other] = [aCustomer(), aCustomer()];
    const attempt = { at: at(0), status: 503, durationMs: 10 };
    const failed = { at: at(0), error: 'timeout', durationMs: 9_000 } as const;
    await count(
      { accountId, webhookId: '1', attempt },
      { accountId, webhookId: '1', attempt: failed },
      { accountId, webhookId: '2', attempt },
      { accountId: other, webhookId: '3', attempt },
    );
    // Later attempts add to what was stored before.
    await count({ accountId, webhookId: '2', attempt });
    expect((await read(accountId, '1')).outcomes).toEqual({ '5xx': 1, timeout: 1 });
    expect((await read(accountId, '2')).outcomes).toEqual({ '5xx': 2 });
    expect((await read(accountId)).outcomes).toEqual({ '5xx': 3, timeout: 1 });
    expect((await read(accountId, '3')).outcomes).toEqual({});
  });

  it('estimates percentiles of answer times within a tenth', async () => {
    const accountId = aCustomer();
    const durations = Array.from({ length: 1_000 }, (_, index) => index + 1);
    await count(
      ...durations.map((durationMs) => ({
        accountId,
        webhookId: '1',
        attempt: { at: at(0), status: 200, durationMs },
      })),
    );
    const { answerMs } = await read(accountId, '1');
    expect(Math.abs(answerMs!.p50 - 500)).toBeLessThan(50);
    expect(Math.abs(answerMs!.p95 - 950)).toBeLessThan(95);
    expect(Math.abs(answerMs!.p99 - 990)).toBeLessThan(99);
  });
}
