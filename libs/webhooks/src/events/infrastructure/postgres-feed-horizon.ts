import { setTimeout as sleep } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { Database, translateDatabaseError } from '#libs/runtime';
import { leastIdAtMicros } from '../../partitions/partition-days.js';
import { FeedHorizon, type Horizon } from '../domain/feed.js';
import { FIND_ACCEPTING, RAISE_FEED_CLOCK } from './feed.statements.js';

/** The shortest time between the beginnings of two looks. */
const BETWEEN_MS = 50;

/**
 * The time up to which no event can appear any more (docs/decisions/2026-11-29-feed.md). Requests of the process share
 * looks, and there are none while nobody asks.
 */
@Injectable()
export class PostgresFeedHorizon extends FeedHorizon {
  private last: Promise<unknown> = Promise.resolve();
  private begunAt = -Infinity;
  private next: Promise<Horizon> | undefined;

  constructor(private readonly database: Database) {
    super();
  }

  /** A look that has begun may not see what the caller knows of, so all that come meanwhile share the next one. */
  override current(): Promise<Horizon> {
    this.next ??= this.lookAgain();
    return this.next;
  }

  private async lookAgain(): Promise<Horizon> {
    await this.last;
    await sleep(Math.max(0, this.begunAt + BETWEEN_MS - performance.now()));
    this.begunAt = performance.now();
    const horizon = this.micros().then(leastIdAtMicros);
    this.next = undefined;
    this.last = horizon.catch(() => undefined);
    return horizon;
  }

  private async micros(): Promise<number> {
    try {
      const raised = await this.database.runSynchronously(RAISE_FEED_CLOCK);
      const found = await this.database.run(FIND_ACCEPTING);
      const times = [...raised, ...found].map(({ micros }) => micros);
      const since = found.flatMap((row) => row.since ?? []);
      return Math.min(...[...times, ...since].map(Number));
    } catch (error) {
      throw translateDatabaseError(error);
    }
  }
}
