import { Injectable } from '@nestjs/common';
import { BackgroundTasks, Database } from '#libs/runtime';
import { binOf, type CountedAttempt, outcomeOf, STEP_MS } from '../domain/attempt-counts.js';
import { ADD_COUNTS, ALL } from './attempt-counts.statements.js';

const FLUSH_MS = 10_000;
/** Rows of one statement. */
const BATCH = 1_000;

/** A row to add to, and by how much. */
interface Row {
  key: readonly [accountId: string, webhookId: string, at: string, outcome: string, bin: number];
  count: number;
}

/**
 * Counts a worker's attempts in memory and adds them to the stored counts every ten seconds, so that the path
 * of an event has no part of it. A worker that is killed loses its last ten seconds of counts; the log of
 * attempts has them.
 */
@Injectable()
export class AttemptCounter {
  private rows = new Map<string, Row>();

  constructor(
    tasks: BackgroundTasks,
    private readonly database: Database,
  ) {
    tasks.add('attempt-counts', { everyMs: FLUSH_MS }, () => this.flush());
  }

  count({ accountId, webhookId, attempt }: CountedAttempt): void {
    const at = new Date(Math.floor(attempt.at.getTime() / STEP_MS) * STEP_MS).toISOString();
    const bin = attempt.status === undefined ? 0 : binOf(attempt.durationMs);
    const outcome = outcomeOf(attempt);
    this.add({ key: [accountId, webhookId, at, outcome, bin], count: 1 });
    this.add({ key: [accountId, ALL, at, outcome, bin], count: 1 });
  }

  /** Stores what was counted. What fails to be stored is kept for the next time. */
  async flush(): Promise<void> {
    const all = [...this.rows].sort(([one], [other]) => (one < other ? -1 : 1));
    for (let start = 0; start < all.length; start += BATCH) {
      const batch = all.slice(start, start + BATCH);
      for (const [name] of batch) this.rows.delete(name);
      const rows = batch.map(([, row]) => row);
      try {
        await this.store(rows);
      } catch (error) {
        for (const row of rows) this.add(row);
        throw error;
      }
    }
  }

  private async store(rows: readonly Row[]): Promise<void> {
    await this.database.run(ADD_COUNTS, {
      accountIds: rows.map(({ key }) => key[0]),
      webhookIds: rows.map(({ key }) => key[1]),
      at: rows.map(({ key }) => key[2]),
      outcomes: rows.map(({ key }) => key[3]),
      bins: rows.map(({ key }) => key[4]),
      counts: rows.map(({ count }) => count),
    });
  }

  private add({ key, count }: Row): void {
    const name = key.join(' ');
    const row = this.rows.get(name);
    if (row) row.count += count;
    else this.rows.set(name, { key, count });
  }
}
