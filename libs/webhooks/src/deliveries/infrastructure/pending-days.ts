import { Injectable } from '@nestjs/common';
import { BackgroundTasks, Database } from '#libs/runtime';
import { findPendingDays } from './due-deliveries.statements.js';
import type { Day } from './partition-days.js';
import { dayAt, daysAtOnce, daysOf, type Span, spansOf } from './partition-walk.js';

/** With 1,100 days a look takes 100 ms, so a hundredth of the time. */
const LOOKS = { everyMs: 10_000, share: 0.01 };

const DAYS = daysAtOnce('deliveries');

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
    const all = await daysOf(this.database.run, 'deliveries');
    for (let place = 0; place < all.length; place += DAYS) {
      const rows = await this.database.run(findPendingDays(all.slice(place, place + DAYS)));
      for (const { day } of rows) found.add(day);
    }
    this.found = found;
    for (const [day, at] of this.noted) if (at < begunAt) this.noted.delete(day);
  }
}
