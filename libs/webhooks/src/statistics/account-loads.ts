import { type BeforeApplicationShutdown, Injectable } from '@nestjs/common';
import { BackgroundTasks, Database, Log, prepared } from '#libs/runtime';
import { HOUR_MS } from './domain/attempt-history.js';
import { PendingCounts, type PendingRow } from './infrastructure/pending-counts.js';

const FLUSH_MS = 10_000;

/** What an account has caused. */
export interface Load {
  /** Accepted events. */
  reported: number;
  /** Attempts that succeeded, and others. */
  delivered: number;
  failed: number;
  /** How long these attempts took, in ms. */
  busyMs: number;
}

/** Rows are sorted by their key, so that concurrent processes cannot deadlock. */
export const ADD_LOADS = prepared<{
  at: string[];
  accountIds: string[];
  reported: number[];
  delivered: number[];
  failed: number[];
  busyMs: number[];
}>(
  'account-loads.add',
  `
INSERT INTO account_loads AS l (at, account_id, reported, delivered, failed, busy_ms)
SELECT * FROM unnest(@at::timestamptz[], @accountIds::bigint[], @reported::integer[], @delivered::integer[],
  @failed::integer[], @busyMs::bigint[])
ON CONFLICT (at, account_id) DO UPDATE
SET reported = l.reported + excluded.reported, delivered = l.delivered + excluded.delivered,
  failed = l.failed + excluded.failed, busy_ms = l.busy_ms + excluded.busy_ms`,
);

const NOTHING: Load = { reported: 0, delivered: 0, failed: 0, busyMs: 0 };

/** The key of a row: an account and an hour. */
interface Key {
  accountId: string;
  atMs: number;
}

/**
 * Counts in memory what a process has accepted or attempted for each account, and adds it to the stored counts by the
 * hour every ten seconds.
 */
@Injectable()
export class AccountLoadCounter implements BeforeApplicationShutdown {
  private readonly counts = new PendingCounts<Key, Load>(NOTHING, (rows) => this.store(rows));

  constructor(
    tasks: BackgroundTasks,
    private readonly database: Database,
    private readonly log: Log,
  ) {
    tasks.add('account-loads', { everyMs: FLUSH_MS }, () => this.flush());
  }

  add(accountId: string, atMs: number, load: Partial<Load>): void {
    const hour = atMs - (atMs % HOUR_MS);
    this.counts.add(`${String(hour)} ${accountId}`, { accountId, atMs: hour }, load);
  }

  async beforeApplicationShutdown(): Promise<void> {
    await this.flush().catch((error: unknown) => {
      this.log.warn({ err: error }, 'the last counts by account are lost');
    });
  }

  /** Stores the counts. Those that could not be stored are kept for the next time. */
  flush(): Promise<void> {
    return this.counts.flush();
  }

  private async store(rows: readonly PendingRow<Key, Load>[]): Promise<void> {
    const loads = rows.map(({ counts }) => counts);
    await this.database.run(ADD_LOADS, {
      at: rows.map(({ key }) => new Date(key.atMs).toISOString()),
      accountIds: rows.map(({ key }) => key.accountId),
      reported: loads.map(({ reported }) => reported),
      delivered: loads.map(({ delivered }) => delivered),
      failed: loads.map(({ failed }) => failed),
      busyMs: loads.map(({ busyMs }) => Math.round(busyMs)),
    });
  }
}
