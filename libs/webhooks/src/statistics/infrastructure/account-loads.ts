import { type BeforeApplicationShutdown, Injectable } from '@nestjs/common';
import { BackgroundTasks, Database, Log, prepared, statement } from '#libs/runtime';
import { HOUR_MS } from '../domain/attempt-history.js';

const FLUSH_MS = 10_000;
/** Rows of one statement. */
const BATCH = 1_000;

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

/** @returns as many rows as were deleted */
export const FORGET_LOADS = statement<{ days: number; limit: number }>(`
DELETE FROM account_loads WHERE ctid = ANY (ARRAY(
  SELECT ctid FROM account_loads WHERE at < now() - @days::integer * interval '24 hours'
  ORDER BY at LIMIT @limit::integer FOR UPDATE SKIP LOCKED
))
RETURNING 1`);

/** The load of an account in an hour. */
interface Row extends Load {
  at: string;
  accountId: string;
}

/**
 * Counts in memory what a process has accepted or attempted for each account, and adds it to the stored counts by the
 * hour every ten seconds, off the path of an event. A process that is killed loses its last ten seconds.
 */
@Injectable()
export class AccountLoadCounter implements BeforeApplicationShutdown {
  private rows = new Map<string, Row>();

  constructor(
    tasks: BackgroundTasks,
    private readonly database: Database,
    private readonly log: Log,
  ) {
    tasks.add('account-loads', { everyMs: FLUSH_MS }, () => this.flush());
  }

  add(accountId: string, atMs: number, load: Partial<Load>): void {
    const at = new Date(Math.floor(atMs / HOUR_MS) * HOUR_MS).toISOString();
    this.addRow({ at, accountId, ...NOTHING, ...load });
  }

  async beforeApplicationShutdown(): Promise<void> {
    await this.flush().catch((error: unknown) => {
      this.log.warn({ err: error }, 'the last counts by account are lost');
    });
  }

  /** Stores the counts. Those that could not be stored are kept for the next time. */
  async flush(): Promise<void> {
    const all = [...this.rows].sort(([one], [other]) => (one < other ? -1 : 1));
    for (let start = 0; start < all.length; start += BATCH) {
      const batch = all.slice(start, start + BATCH);
      for (const [name] of batch) this.rows.delete(name);
      const rows = batch.map(([, row]) => row);
      try {
        await this.store(rows);
      } catch (error) {
        for (const row of rows) this.addRow(row);
        throw error;
      }
    }
  }

  private async store(rows: readonly Row[]): Promise<void> {
    await this.database.run(ADD_LOADS, {
      at: rows.map(({ at }) => at),
      accountIds: rows.map(({ accountId }) => accountId),
      reported: rows.map(({ reported }) => reported),
      delivered: rows.map(({ delivered }) => delivered),
      failed: rows.map(({ failed }) => failed),
      busyMs: rows.map(({ busyMs }) => Math.round(busyMs)),
    });
  }

  private addRow(row: Row): void {
    const name = `${row.at} ${row.accountId}`;
    const known = this.rows.get(name);
    if (!known) {
      this.rows.set(name, row);
      return;
    }
    known.reported += row.reported;
    known.delivered += row.delivered;
    known.failed += row.failed;
    known.busyMs += row.busyMs;
  }
}

const NOTHING: Load = { reported: 0, delivered: 0, failed: 0, busyMs: 0 };
