import { Injectable } from '@nestjs/common';
import { BackgroundTasks, Database, Transactions } from '#libs/kernel';
import { type Day, dayOf, leastIdOf } from './partition-days.js';
import { dayAt, daysOf } from './partition-walk.js';
import { PendingDays } from './pending-days.js';
import {
  continueReplay,
  END_REPLAYS,
  findWaiting,
  READY_REPLAYS,
  REPLAYED_DAYS,
  TAKE_REPLAY,
} from './replay.statements.js';

const OPTIONS = { everyMs: 500, share: 0.25 };
/** So many begin anew at once, and so many of a subscription wait at the most before more do. */
const BATCH = 500;

interface ReadyReplay {
  id: string;
  webhook_id: string;
  after: string;
  until: Date;
}

/**
 * Carries out replays, a batch of each at a time, as fast as their targets take them. Runs in every
 * worker. How far a replay came is stored with what it did, so another worker goes on with just the
 * next delivery.
 */
@Injectable()
export class DeliveryReplayer {
  constructor(
    tasks: BackgroundTasks,
    private readonly transactions: Transactions,
    private readonly database: Database,
    private readonly pendingDays: PendingDays,
  ) {
    tasks.add('replaying', OPTIONS, (signal) => this.replay(signal));
  }

  private async replay(signal: AbortSignal): Promise<void> {
    await this.database.run(END_REPLAYS, []);
    const ready = await this.database.run<{ id: string }>(READY_REPLAYS, []);
    if (ready.length === 0) return;
    const oldest = (await daysOf(this.database, 'deliveries')).at(-1);
    const failures: unknown[] = [];
    for (const { id } of ready) {
      // One whose rows somebody has locked keeps no other from going on.
      await this.continueAll(id, oldest, signal).catch((error: unknown) => failures.push(error));
    }
    if (failures.length > 0) throw failures[0];
  }

  /** Days that have too few for a batch are followed by the next ones at once. */
  private async continueAll(id: string, oldest: Day | undefined, signal: AbortSignal) {
    do signal.throwIfAborted();
    while (await this.continue(id, oldest));
  }

  /** @returns whether there is more to be done of it now */
  private async continue(id: string, oldest = 0): Promise<boolean> {
    const done = await this.transactions.run(async () => {
      const [replay] = await this.transactions.query<ReadyReplay>(TAKE_REPLAY, [id]);
      if (!replay || !(await this.hasRoom(replay))) return undefined;
      const first = Math.max(dayOf(replay.after), oldest);
      const end = dayAt(replay.until);
      const span = { first, last: Math.min(first + REPLAYED_DAYS - 1, end) };
      const isEnd = span.last >= end;
      const values = [id, BATCH, leastIdOf(span.last + 1), isEnd];
      const [row] = await this.transactions.query<{ found: number }>(continueReplay(span), values);
      return { span, goesOn: !isEnd && row !== undefined && row.found < BATCH };
    });
    if (done) this.pendingDays.note(done.span);
    return done?.goesOn ?? false;
  }

  /** Whether fewer than a batch of its subscription wait, and nothing is about to be cancelled. */
  private async hasRoom({ webhook_id: webhookId }: ReadyReplay): Promise<boolean> {
    let waiting = 0;
    for (const span of await this.pendingDays.spans()) {
      const [row] = await this.transactions.peek<{ due: number; outdated: boolean }>(
        findWaiting(span),
        [webhookId, BATCH],
      );
      waiting += row?.due ?? 0;
      if (waiting >= BATCH || row?.outdated === true) return false;
    }
    return true;
  }
}
