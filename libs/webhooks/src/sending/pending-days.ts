import { Injectable } from '@nestjs/common';
import { BackgroundTasks, Database, type NoValues, type Run, statement } from '#libs/runtime';
import {
  type Day,
  dayAt,
  daysAtOnce,
  daysOf,
  type Span,
  spansOf,
  withinDays,
} from '../partitions/partition-days.js';

/** With 1,100 days, a scan takes 100 ms, 1 % of the time. */
const SCANS = { everyMs: 10_000, share: 0.01 };

const DAYS = daysAtOnce('deliveries');
const CLOCKS_DIFFER_MS = 3_600_000;

/**
 * The days with pending deliveries, usually a few of hundreds, so that queries for pending deliveries skip all others.
 * A redelivery or a replay adds an old day: at once by {@link add}, otherwise within ten seconds.
 */
@Injectable()
export class PendingDays {
  private found = new Set<Day>();
  /** When each day was added; removed by a scan that began later. */
  private readonly added = new Map<Day, number>();
  private first: Promise<void> | undefined;

  constructor(
    private readonly database: Database,
    tasks: BackgroundTasks,
  ) {
    tasks.add('pending-days', SCANS, () => this.scan());
  }

  /** Newest first. @param known further days to include */
  async all(known: Iterable<Day> = []): Promise<Day[]> {
    await (this.first ?? this.scan());
    // New deliveries are pending today. Around midnight, the clocks of PostgreSQL and of this process may differ.
    const today = [-CLOCKS_DIFFER_MS, CLOCKS_DIFFER_MS].map((ms) =>
      dayAt(new Date(Date.now() + ms)),
    );
    const all = new Set([...this.found, ...this.added.keys(), ...known, ...today]);
    return [...all].sort((one, other) => other - one);
  }

  /** Spans of at most `days`, newest first. */
  async spans(days: number): Promise<Span[]> {
    return spansOf(await this.all(), days);
  }

  /** Adds days of which deliveries became pending. */
  add({ first, last }: Span): void {
    for (let day = first; day <= last; day += 1) this.added.set(day, performance.now());
  }

  private scan(): Promise<void> {
    const scanning = this.scanAll();
    this.first ??= scanning;
    // Not a promise of its own, whose rejection nobody might handle.
    scanning.catch(() => {
      if (this.first === scanning) this.first = undefined;
    });
    return scanning;
  }

  private async scanAll(): Promise<void> {
    const begunAt = performance.now();
    this.found = new Set(await daysWithPending(this.database.run));
    for (const [day, at] of this.added) if (at < begunAt) this.added.delete(day);
  }
}

/** The days with pending deliveries, for which it looks into every partition. */
export async function daysWithPending(run: Run): Promise<Day[]> {
  const found: Day[] = [];
  const all = await daysOf(run, 'deliveries');
  for (let start = 0; start < all.length; start += DAYS) {
    const rows = await run(findPendingDays(all.slice(start, start + DAYS)));
    found.push(...rows.map(({ day }) => day));
  }
  return found;
}

/**
 * The days with pending deliveries. ORDER BY makes it use the index on pending rows. EXISTS would read
 * whole partitions if statistics promise an early match.
 */
export function findPendingDays(days: readonly Day[]) {
  const ofEach = days.map(
    (day) => `(SELECT ${day} AS day FROM deliveries
WHERE state = 'pending' AND ${withinDays('id', day)}
ORDER BY webhook_id, next_attempt_at LIMIT 1)`,
  );
  return statement<NoValues, { day: Day }>(ofEach.join(' UNION ALL '));
}
