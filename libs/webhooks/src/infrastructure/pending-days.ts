import { Injectable } from '@nestjs/common';
import { BackgroundTasks, Database } from '#libs/kernel';
import { type Day, withinDays } from './partition-days.js';

const SWEEPS = { everyMs: 60_000, share: 0.05 };

/** The days of the partitions, and the present one by PostgreSQL's clock. */
const DAYS = {
  name: 'days.all',
  text: `
SELECT to_date(right(part.relname, 8), 'YYYYMMDD') - date '1970-01-01' AS day,
  (now() AT TIME ZONE 'UTC')::date - date '1970-01-01' AS today
FROM pg_inherits JOIN pg_class part ON part.oid = inhrelid
WHERE inhparent = 'deliveries'::regclass AND part.relname ~ '_[0-9]{8}$'`,
};

/** Without a name, so that its plans for a thousand days are not kept. */
function findPending(day: Day): { text: string } {
  return {
    text: `
SELECT FROM deliveries WHERE state = 'pending' AND ${withinDays('id', day)}
ORDER BY webhook_id, next_attempt_at LIMIT 1`,
  };
}

/**
 * Of which days anything is pending, so that looks pass over all others. New deliveries are of the
 * present day; whatever begins anew on an older one is told by {@link add}, or found within a minute.
 */
@Injectable()
export class PendingDays {
  private found = new Set<Day>();
  private readonly added = new Set<Day>();
  private today: Day | undefined;

  constructor(
    private readonly database: Database,
    tasks: BackgroundTasks,
  ) {
    tasks.add('pending-days', SWEEPS, (signal) => this.sweep(signal));
  }

  add(days: Iterable<Day>): void {
    for (const day of days) this.added.add(day);
  }

  /** @param known days of which something is known to be pending */
  async all(known: Iterable<Day> = []): Promise<Day[]> {
    const today = this.today ?? (await this.list()).today;
    // Tomorrow may come before the next sweep.
    const days = new Set([...known, ...this.found, ...this.added, today, today + 1]);
    return [...days].sort((one, other) => one - other);
  }

  private async sweep(signal: AbortSignal): Promise<void> {
    const added = [...this.added];
    const found = new Set<Day>();
    for (const day of (await this.list()).days) {
      signal.throwIfAborted();
      if ((await this.database.run(findPending(day), [])).length > 0) found.add(day);
    }
    this.found = found;
    for (const day of added) this.added.delete(day);
  }

  private async list(): Promise<{ days: Day[]; today: Day }> {
    const rows = await this.database.run<{ day: Day; today: Day }>(DAYS, []);
    const today = rows[0]?.today ?? Math.floor(Date.now() / 86_400_000);
    this.today = today;
    return { days: rows.map(({ day }) => day), today };
  }
}
