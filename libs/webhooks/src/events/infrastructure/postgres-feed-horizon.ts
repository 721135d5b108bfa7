import { Injectable } from '@nestjs/common';
import { Database, translateDatabaseError } from '#libs/runtime';
import { leastIdAtMicros } from '../../partitions/partition-days.js';
import { FeedHorizon, type Horizon } from '../domain/feed.js';
import { FIND_ACCEPTING, RAISE_FEED_CLOCK } from './feed.statements.js';

/** How old a horizon may be that is given again. */
const FRESH_MS = 100;

/**
 * The time up to which no event can appear any more (docs/decisions/2026-11-29-feed.md). All requests of the process share
 * it, and nothing is read while nobody asks.
 */
@Injectable()
export class PostgresFeedHorizon extends FeedHorizon {
  private known = { horizon: '', at: -Infinity };
  private reading: Promise<Horizon> | undefined;

  constructor(private readonly database: Database) {
    super();
  }

  override async current({ isNew } = { isNew: false }): Promise<Horizon> {
    // What is being read may have begun before the call.
    if (isNew && this.reading) await this.reading;
    else if (!isNew && performance.now() - this.known.at < FRESH_MS) return this.known.horizon;
    this.reading ??= this.read().finally(() => {
      this.reading = undefined;
    });
    return this.reading;
  }

  private async read(): Promise<Horizon> {
    const at = performance.now();
    const horizon = leastIdAtMicros(await this.micros());
    this.known = { horizon, at };
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
