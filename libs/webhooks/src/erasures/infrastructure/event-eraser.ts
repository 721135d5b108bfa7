import { Injectable } from '@nestjs/common';
import { BackgroundTasks, Database } from '#libs/runtime';
import { daysOf } from '../../partitions/partition-days.js';
import {
  END_ERASURE,
  ERASE_EVENTS,
  NEXT_ERASURE,
  type RunningErasure,
} from './erasure.statements.js';
import { nextDay, searchDay, type SearchedPart } from './event-search.js';

/** Leaves three quarters of the time, because nobody waits for an erasure. */
const OPTIONS = { everyMs: 1_000, share: 0.25 };
const RUN_MS = 500;
/** How many events one statement erases. It holds their locks, and an outcome of a delivery waits for these. */
const BATCH = 20;

/**
 * Carries out erasures, which take turns. Runs in every worker. What is erased is stored together with the progress, so
 * another worker can continue exactly after it.
 */
@Injectable()
export class EventEraser {
  constructor(
    tasks: BackgroundTasks,
    private readonly database: Database,
  ) {
    tasks.add('erasing', OPTIONS, (signal) => this.run(signal));
  }

  async run(signal?: AbortSignal): Promise<void> {
    const end = performance.now() + RUN_MS;
    do {
      signal?.throwIfAborted();
      const [erasure] = await this.database.run(NEXT_ERASURE);
      if (!erasure) return;
      await this.advance(erasure);
    } while (performance.now() < end);
  }

  private async advance(erasure: RunningErasure): Promise<void> {
    const { run } = this.database;
    const { id, accountId, contains, since, until, after } = erasure;
    const day = nextDay(await daysOf(run, 'events'), erasure);
    if (day === undefined) {
      await run(END_ERASURE, { id });
      return;
    }
    const sought = {
      accountId: accountId ?? undefined,
      after,
      since: since?.toISOString(),
      until: until.toISOString(),
    };
    await this.erase(id, await searchDay(run, day, sought, { contains, erasure: id }));
  }

  private async erase(id: string, { found, upTo }: SearchedPart): Promise<void> {
    let from = 0;
    do {
      const batch = found.slice(from, from + BATCH);
      from += BATCH;
      const [row] = await this.database.run(ERASE_EVENTS, {
        id,
        matched: batch.filter(({ hasText }) => hasText).map((event) => event.id),
        keyed: batch.filter(({ hasKey }) => hasKey).map((event) => event.id),
        upTo: from < found.length ? batch.at(-1)!.id : upTo,
      });
      if (row?.done !== true) return;
    } while (from < found.length);
  }
}
