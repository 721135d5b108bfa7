import { Injectable } from '@nestjs/common';
import { BackgroundTasks, Database, type Statement } from '#libs/runtime';
import { type Day, withinDays } from './partition-days.js';
import { dayAt, daysAtOnce, daysOf, type Span, spansOf } from './partition-walk.js';

/** With 1,100 days a look takes 100 ms, so a hundredth of the time. */
const LOOKS = { everyMs: 10_000, share: 0.01 };

const DAYS = daysAtOnce('deliveries');

/**
 * Which of the days hold anything pending. Asked in the order of the index on what is pending:
 * EXISTS would read whole partitions where statistics promise a quick find.
 */
function pendingOf(days: readonly Day[]): Statement {
  const each = days.map(
    (
      day,
    ) => `(SELECT ${day} AS day FROM deliveries WHERE state = 'pending' AND ${withinDays('id', day)}
ORDER BY webhook_id, next_attempt_at LIMIT 1)`,
  );
  return { text: each.join(' UNION ALL ') };
}

/**
 * The days that have pending deliveries: a few of hundreds, so whoever looks for something pending
 * passes over all others. An old day becomes one of them when something of it is sent again: that is
 * known here when it is noted, else ten seconds later.
 */
@Injectable()
export class PendingDays {
  private found = new Set<Day>();
  /** When each day was noted, as long as no look has begun since. */
  private readonly noted = new Map<Day, number>();
  private first: Promise<void> | undefined;

  constructor(
    private readonly database: Database,
    tasks: BackgroundTasks,
  ) {
    tasks.add('pending-days', LOOKS, () => this.look());
  }

  /** The newest first. @param known further days */
  async all(known: Iterable<Day> = []): Promise<Day[]> {
    await (this.first ?? this.look());
    // What is accepted becomes pending today, by whichever clock.
    const today = dayAt(new Date());
    const all = new Set([
      ...this.found,
      ...this.noted.keys(),
      ...known,
      today - 1,
      today,
      today + 1,
    ]);
    return [...all].sort((one, other) => other - one);
  }

  /** Spans of so many days at the most, the newest first. */
  async spans(days: number): Promise<Span[]> {
    return spansOf(await this.all(), days);
  }

  /** Deliveries of these days became pending. */
  note({ first, last }: Span): void {
    for (let day = first; day <= last; day += 1) this.noted.set(day, performance.now());
  }

  private look(): Promise<void> {
    const looking = this.lookAtAll();
    this.first ??= looking.catch((error: unknown) => {
      this.first = undefined;
      throw error;
    });
    return looking;
  }

  private async lookAtAll(): Promise<void> {
    const begunAt = performance.now();
    const found = new Set<Day>();
    const all = await daysOf(this.database, 'deliveries');
    for (let place = 0; place < all.length; place += DAYS) {
      const asked = pendingOf(all.slice(place, place + DAYS));
      const rows = await this.database.query<{ day: Day }>(asked, []);
      for (const { day } of rows) found.add(day);
    }
    this.found = found;
    for (const [day, at] of this.noted) if (at < begunAt) this.noted.delete(day);
  }
}
