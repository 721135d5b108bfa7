import { Injectable } from '@nestjs/common';
import { type Found, scanPage } from '#libs/kernel';
import { BackgroundTasks, Database } from '#libs/runtime';
import { dayAt, dayOf, daysOf, inSpans, oldestFirst } from '../../partitions/partition-days.js';
import { PendingDays } from '../../sending/pending-days.js';
import { findNextMissed } from '../missed-events.js';
import { ReplayLook } from './replay-look.js';
import {
  continueReplay,
  DAYS_DELIVERED,
  DAYS_REPLAYED,
  DAYS_WAITING,
  DELIVER_MISSED,
  findWaiting,
} from './replay-batch.statements.js';
import type { ReplayPart } from '../replay-progress.statements.js';
import { DAYS_FOUND, findReplayable } from './replay.statements.js';

const OPTIONS = { everyMs: 500, share: 0.25 };
/** Limit of deliveries restarted at once. No more are restarted while a subscription has this many due. */
const BATCH = 500;

/**
 * Carries out replays in batches, as fast as their targets accept them. Runs in every worker. A replay's
 * progress is stored together with its effect, so another worker can continue exactly after it.
 */
@Injectable()
export class DeliveryReplayer {
  private readonly look: ReplayLook;

  constructor(
    tasks: BackgroundTasks,
    private readonly database: Database,
    private readonly pendingDays: PendingDays,
  ) {
    this.look = new ReplayLook(database.run);
    tasks.add('replaying', OPTIONS, (signal) => this.replay(signal));
  }

  private async replay(signal: AbortSignal): Promise<void> {
    const ready = await this.look.next();
    if (ready.length === 0) return;
    const oldest = (await daysOf(this.database.run, 'deliveries')).at(-1) ?? 0;
    const failures: unknown[] = [];
    for (const part of ready) {
      // A failure, for example because of locked rows, does not stop the other replays.
      await this.continue(part, oldest, signal).catch((error: unknown) => failures.push(error));
    }
    if (failures.length > 0) throw failures[0];
  }

  /** Whether fewer than a batch of the subscription's deliveries wait, and none is about to be cancelled. */
  private async hasRoom({ webhookId }: ReplayPart): Promise<boolean> {
    let waiting = 0;
    for (const span of await this.pendingDays.spans(DAYS_WAITING)) {
      const [row] = await this.database.run(findWaiting(span), { webhookId, limit: BATCH });
      waiting += row?.due ?? 0;
      if (waiting >= BATCH || row?.outdated === true) return false;
    }
    return true;
  }

  private async continue(part: ReplayPart, oldest: number, signal: AbortSignal): Promise<void> {
    if (!(await this.hasRoom(part))) return;
    const { rows, stoppedAt } = await this.next(part, oldest);
    // Of deliveries, or of missed events.
    const found = rows.map((row) => row.id);
    const spans = inSpans(found, part.missed ? DAYS_DELIVERED : DAYS_REPLAYED).reverse();
    // If none is found, the end of the replay or the position of the search still has to be stored.
    if (spans.length === 0) spans.push([{ first: oldest, last: oldest }, []]);
    const { id, webhookId } = part;
    let { after } = part;
    for (const [span, ids] of spans) {
      signal.throwIfAborted();
      const isLast = span === spans.at(-1)![0];
      const to = (isLast ? stoppedAt : undefined) ?? ids.at(-1) ?? after;
      const isEnd = isLast && rows.length < BATCH && stoppedAt === undefined;
      const batch = { id, webhookId, after, to, isEnd };
      const done = part.missed
        ? await this.database.run(DELIVER_MISSED, { ...batch, eventIds: ids })
        : await this.database.run(continueReplay(span), { ...batch, deliveryIds: ids });
      if (done.length === 0) return;
      this.pendingDays.add(span);
      after = to;
    }
  }

  /** The next batch of deliveries, or of missed events, oldest first. */
  private next(part: ReplayPart, oldest: number): Promise<Found<{ id: string }>> {
    if (part.missed) return findNextMissed(this.database.run, part, BATCH);
    const { after, until } = part;
    const days = oldestFirst(
      { first: Math.max(dayOf(after), oldest), last: dayAt(until) },
      DAYS_FOUND,
    );
    const { webhookId, states, event, applicationId, status, recoveredSince } = part;
    return scanPage(BATCH, days, (span, limit) =>
      this.database.run(findReplayable(span), {
        ...{ webhookId, states, after, until: until.toISOString(), limit },
        event: event ?? undefined,
        applicationId: applicationId ?? undefined,
        status: status ?? undefined,
        recoveredSince: recoveredSince?.toISOString(),
      }),
    );
  }
}
