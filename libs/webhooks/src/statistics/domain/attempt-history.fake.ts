import {
  type AttemptCount,
  AttemptHistoryStore,
  binOf,
  type Buckets,
  type CountedAttempt,
  outcomeOf,
} from './attempt-history.js';

/** Attempts in memory. */
export class FakeAttemptHistoryStore extends AttemptHistoryStore {
  readonly all: CountedAttempt[] = [];

  override counts(
    accountId: string,
    webhookId: string | undefined,
    { sinceMs, widthMs, count }: Buckets,
  ): Promise<AttemptCount[]> {
    const counts = this.all
      .filter(
        (one) => one.accountId === accountId && (webhookId ?? one.webhookId) === one.webhookId,
      )
      .map(({ attempt }) => ({
        bucket: Math.floor((attempt.at.getTime() - sinceMs) / widthMs),
        outcome: outcomeOf(attempt),
        bin: attempt.status === undefined ? 0 : binOf(attempt.durationMs),
        count: 1,
      }));
    return Promise.resolve(counts.filter(({ bucket }) => bucket >= 0 && bucket < count));
  }
}
