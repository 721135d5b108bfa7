import { Injectable } from '@nestjs/common';
import { BackgroundTasks, Database, prepared } from '#libs/runtime';
import { AccountLoadCounter } from './account-loads.js';
import { PendingCounts, type PendingRow } from './infrastructure/pending-counts.js';
import {
  ALL_WEBHOOKS,
  binOf,
  type CountedAttempt,
  INSTALLATION,
  outcomeOf,
  STEP_MS,
} from './domain/attempt-history.js';

const FLUSH_MS = 10_000;

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
    const owners = [
      { accountId, webhookId },
      { accountId, webhookId: ALL_WEBHOOKS },
      { accountId: INSTALLATION, webhookId: ALL_WEBHOOKS },
    ];
    for (const owner of owners) {
      const name = `${owner.accountId} ${owner.webhookId} ${String(atMs)} ${outcome} ${String(bin)}`;
      this.counts.add(name, { ...owner, atMs, outcome, bin }, { count: 1 });
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
