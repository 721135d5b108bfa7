import { Injectable } from '@nestjs/common';
import { BackgroundTasks, Database, prepared, statement, TypeOrmTransactions } from '#libs/runtime';
import { AccountLoadCounter } from './account-loads.js';
import { PendingCounts, type PendingRow } from './pending-counts.js';
import {
  type AttemptCount,
  AttemptHistoryStore,
  binOf,
  type Buckets,
  type CountedAttempt,
  outcomeOf,
  STEP_MS,
} from '../domain/attempt-history.js';

const FLUSH_MS = 10_000;

/** The subscription id of rows that count the attempts of all of an account's subscriptions. */
const ALL = '0';

/** Rows are sorted by their key, so that concurrent workers cannot deadlock. */
export const ADD_COUNTS = prepared<{
  accountIds: string[];
  webhookIds: string[];
  at: string[];
  outcomes: string[];
  bins: number[];
  counts: number[];
}>(
  'attempt-counts.add',
  `
INSERT INTO attempt_counts (account_id, webhook_id, at, outcome, bin, count)
SELECT * FROM unnest(@accountIds::bigint[], @webhookIds::bigint[], @at::timestamptz[],
  @outcomes::text[], @bins::smallint[], @counts::integer[])
ON CONFLICT (account_id, webhook_id, at, outcome, bin)
DO UPDATE SET count = attempt_counts.count + excluded.count`,
);

export const READ_COUNTS = prepared<
  { accountId: string; webhookId: string; since: string; until: string; widthS: number },
  AttemptCount
>(
  'attempt-counts.read',
  `
SELECT (extract(epoch FROM start - @since::timestamptz) / @widthS::integer)::integer AS bucket,
  outcome, bin, count::float8
FROM (
  SELECT date_bin(make_interval(secs => @widthS::integer), at, @since::timestamptz) AS start,
    outcome, bin, sum(count) AS count
  FROM attempt_counts
  WHERE account_id = @accountId AND webhook_id = @webhookId
    AND at >= @since::timestamptz AND at < @until::timestamptz
  GROUP BY 1, 2, 3
) c`,
);

/** @returns as many rows as were deleted */
export const FORGET_COUNTS = statement<{ days: number; limit: number }>(`
DELETE FROM attempt_counts WHERE ctid = ANY (ARRAY(
  SELECT ctid FROM attempt_counts WHERE at < now() - @days::integer * interval '24 hours'
  ORDER BY at LIMIT @limit::integer FOR UPDATE SKIP LOCKED
))
RETURNING 1`);

/** The key of a row. */
interface Key {
  accountId: string;
  webhookId: string;
  atMs: number;
  outcome: string;
  bin: number;
}

/**
 * Counts a worker's attempts in memory and adds them to the stored counts every ten seconds. The log of attempts is
 * complete also after the worker was killed.
 */
@Injectable()
export class AttemptCounter {
  private readonly counts = new PendingCounts<Key, { count: number }>({ count: 0 }, (rows) =>
    this.store(rows),
  );

  constructor(
    tasks: BackgroundTasks,
    private readonly database: Database,
    private readonly loads: AccountLoadCounter,
  ) {
    tasks.add('attempt-counts', { everyMs: FLUSH_MS }, () => this.flush());
  }

  count({ accountId, webhookId, attempt }: CountedAttempt): void {
    const at = attempt.at.getTime();
    const atMs = at - (at % STEP_MS);
    const bin = attempt.status === undefined ? 0 : binOf(attempt.durationMs);
    const outcome = outcomeOf(attempt);
    for (const id of [webhookId, ALL]) {
      const name = `${accountId} ${id} ${String(atMs)} ${outcome} ${String(bin)}`;
      this.counts.add(name, { accountId, webhookId: id, atMs, outcome, bin }, { count: 1 });
    }
    const result = outcome === '2xx' ? { delivered: 1 } : { failed: 1 };
    this.loads.add(accountId, at, { ...result, busyMs: attempt.durationMs });
  }

  /** Stores the counts. Those that could not be stored are kept for the next time. */
  flush(): Promise<void> {
    return this.counts.flush();
  }

  private async store(rows: readonly PendingRow<Key, { count: number }>[]): Promise<void> {
    await this.database.run(ADD_COUNTS, {
      accountIds: rows.map(({ key }) => key.accountId),
      webhookIds: rows.map(({ key }) => key.webhookId),
      at: rows.map(({ key }) => new Date(key.atMs).toISOString()),
      outcomes: rows.map(({ key }) => key.outcome),
      bins: rows.map(({ key }) => key.bin),
      counts: rows.map(({ counts }) => counts.count),
    });
  }
}

/** Reads what {@link AttemptCounter} has stored. */
@Injectable()
export class PostgresAttemptHistoryStore extends AttemptHistoryStore {
  constructor(private readonly transactions: TypeOrmTransactions) {
    super();
  }

  override counts(
    accountId: string,
    webhookId: string | undefined,
    { sinceMs, widthMs, count }: Buckets,
  ): Promise<AttemptCount[]> {
    return this.transactions.query(READ_COUNTS, {
      accountId,
      webhookId: webhookId ?? ALL,
      since: new Date(sinceMs).toISOString(),
      until: new Date(sinceMs + count * widthMs).toISOString(),
      widthS: widthMs / 1_000,
    });
  }
}
