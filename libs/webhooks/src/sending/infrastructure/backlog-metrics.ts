import { Injectable } from '@nestjs/common';
import { Database, Metrics } from '#libs/runtime';
import { countPending, OLDEST_DUE } from './due-deliveries.statements.js';
import { PendingDays } from './pending-days.js';

/** Share of the time that a gauge may be read, however often it is scraped: what it costs grows with the backlog. */
const SHARE = 0.05;
/** A reading up to this long costs little at the pace of scrapes, so the next scrape reads anew. */
const SHORT_MS = 500;

/** Metrics of deliveries waiting in PostgreSQL. Every worker reports them; autoscaling uses them. */
@Injectable()
export class BacklogMetrics {
  constructor(
    metrics: Metrics,
    private readonly database: Database,
    private readonly days: PendingDays,
  ) {
    metrics.gauge(
      'switchhook_oldest_due_age_seconds',
      'Age of the oldest due delivery that no worker and no queue has; the same in all workers.',
      atLeisure(() => this.oldestDueS()),
      'max',
    );
    metrics.gauge(
      'switchhook_pending_deliveries',
      'Unfinished deliveries; the same in all workers.',
      atLeisure(() => this.pending()),
      'max',
    );
  }

  private async oldestDueS(): Promise<number> {
    let oldestMs = 0;
    for (const day of await this.days.all()) {
      const [row] = await this.database.run(OLDEST_DUE(day));
      oldestMs = Math.max(oldestMs, row?.ageMs ?? 0);
    }
    return oldestMs / 1_000;
  }

  private async pending(): Promise<number> {
    let pending = 0;
    for (const day of await this.days.all()) {
      const [row] = await this.database.run(countPending(day));
      pending += row?.deliveries ?? 0;
    }
    return pending;
  }
}

/** Reads a number anew only after a pause in proportion to how long the last reading took, if that was long. */
export function atLeisure(
  read: () => Promise<number>,
  now = () => performance.now(),
): () => Promise<number> {
  let last: { value: number; until: number } | undefined;
  return async () => {
    const begunAt = now();
    if (last && begunAt < last.until) return last.value;
    const value = await read();
    const tookMs = now() - begunAt;
    last = tookMs > SHORT_MS ? { value, until: now() + tookMs * (1 / SHARE - 1) } : undefined;
    return value;
  };
}
