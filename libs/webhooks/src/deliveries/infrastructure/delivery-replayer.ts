import { Injectable } from '@nestjs/common';
import { BackgroundTasks, Database } from '#libs/runtime';
import { byDay, dayOf } from './partition-days.js';
import { dayAt, daysOf, oldestFirst, readUpTo, spansOf } from './partition-walk.js';
import { PendingDays } from './pending-days.js';
import {
  continueReplay,
  DAYS_FOUND,
  DAYS_REPLAYED,
  END_REPLAYS,
  findReplayable,
  findWaiting,
  READY_REPLAYS,
  type ReadyReplay,
} from './replay.statements.js';

const OPTIONS = { everyMs: 500, share: 0.25 };
/** Most deliveries restarted at once. While a subscription has as many waiting, no more are restarted. */
const BATCH = 500;

/**
 * Carries out replays in batches, as fast as their targets accept them. Runs in every worker. A replay's
 * progress is stored together with its effect, so another worker can continue exactly after it.
 */
@Injectable()
export class DeliveryReplayer {
  constructor(
    tasks: BackgroundTasks,
    private readonly database: Database,
    private readonly pendingDays: PendingDays,
  ) {
    tasks.add('replaying', OPTIONS, (signal) => this.replay(signal));
  }

  private async replay(signal: AbortSignal): Promise<void> {
    await this.database.run(END_REPLAYS);
    const ready = await this.database.run(READY_REPLAYS);
    if (ready.length === 0) return;
    const oldest = (await daysOf(this.database.run, 'deliveries')).at(-1) ?? 0;
    const failures: unknown[] = [];
    for (const replay of ready) {
      // A failure, for example because of locked rows, does not stop the other replays.
      await this.continue(replay, oldest, signal).catch((error: unknown) => failures.push(error));
    }
    if (failures.length > 0) throw failures[0];
  }

  /** Whether fewer than a batch of the subscription's deliveries wait, and none is about to be cancelled. */
  private async hasRoom({ webhookId }: ReadyReplay): Promise<boolean> {
    let waiting = 0;
    for (const span of await this.pendingDays.spans(DAYS_FOUND)) {
      const [row] = await this.database.run(findWaiting(span), { webhookId, limit: BATCH });
      waiting += row?.due ?? 0;
      if (waiting >= BATCH || row?.outdated === true) return false;
    }
    return true;
  }

  private async continue(replay: ReadyReplay, oldest: number, signal: AbortSignal): Promise<void> {
    if (!(await this.hasRoom(replay))) return;
    const found = await this.next(replay, oldest);
    const days = byDay(found, (id) => id);
    // At the end of a replay, no delivery is found, but its end still has to be stored.
    const spans = spansOf([...days.keys()].reverse(), DAYS_REPLAYED).reverse();
    if (spans.length === 0) spans.push({ first: oldest, last: oldest });
    let { after } = replay;
    for (const span of spans) {
      signal.throwIfAborted();
      const deliveryIds = [...days].flatMap(([day, of]) =>
        day >= span.first && day <= span.last ? of : [],
      );
      const to = deliveryIds.at(-1) ?? after;
      const isEnd = span === spans.at(-1) && found.length < BATCH;
      const values = { id: replay.id, after, to, isEnd, deliveryIds };
      const done = await this.database.run(continueReplay(span), values);
      if (done.length === 0) return;
      this.pendingDays.note(span);
      after = to;
    }
  }

  /** The next batch of deliveries, oldest first. */
  private async next(replay: ReadyReplay, oldest: number): Promise<string[]> {
    const { webhookId, after, until, states } = replay;
    const range = { first: Math.max(dayOf(after), oldest), last: dayAt(until) };
    const rows = await readUpTo(BATCH, oldestFirst(range, DAYS_FOUND), (span, limit) =>
      this.database.run(findReplayable(span), {
        webhookId,
        after,
        until: until.toISOString(),
        states,
        limit,
      }),
    );
    return rows.map(({ id }) => id);
  }
}
