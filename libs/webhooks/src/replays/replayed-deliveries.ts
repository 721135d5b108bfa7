import { groupBy, MAX_SCANNED_ROWS } from '#libs/kernel';
import type { Run } from '#libs/runtime';
import { newestFirst, type Span } from '../partitions/partition-days.js';
import { leaveOut, type LeftOut } from './domain/replay.js';
import {
  countReplayable,
  DAYS_FOUND,
  type ReplayableValues,
} from './infrastructure/replay.statements.js';

/** How many of a subscription's deliveries a replay would send, and how many others it leaves out. */
export interface Replayable {
  deliveries: number;
  leftOut: LeftOut;
}

/**
 * What a replay would send, by subscription; those without any are absent.
 * @param days of the deliveries
 */
export async function countReplayed(
  run: Run,
  subscriptions: readonly { id: string }[],
  values: ReplayableValues & { after: string },
  days: Span,
): Promise<Map<string, Replayable>> {
  const counts = new Map<string, Replayable>();
  for await (const span of newestFirst(run, 'deliveries', DAYS_FOUND, days)) {
    await countIn(run, span, subscriptions, values, counts);
  }
  return counts;
}

/** Adds the deliveries of some days, with statements that read at most {@link MAX_SCANNED_ROWS} rows each. */
async function countIn(
  run: Run,
  span: Span,
  subscriptions: readonly { id: string }[],
  { after, ...values }: ReplayableValues & { after: string },
  counts: Map<string, Replayable>,
): Promise<void> {
  let left = subscriptions.map(({ id }) => ({ id, after }));
  while (left.length > 0) {
    const limit = Math.floor(MAX_SCANNED_ROWS / left.length);
    const found = await run(countReplayable(span), {
      ...values,
      ...{ webhookIds: left.map(({ id }) => id), afters: left.map((one) => one.after), limit },
    });
    left = [];
    for (const [id, rows] of groupBy(found, ({ webhookId }) => webhookId)) {
      const counted = counts.get(id) ?? { deliveries: 0, leftOut: {} };
      counts.set(id, counted);
      for (const { fate, deliveries } of rows) {
        if (fate === 'sent') counted.deliveries += deliveries;
        else if (fate !== null) leaveOut(counted.leftOut, fate, deliveries);
      }
      const lookedAt = rows.reduce((sum, { deliveries }) => sum + deliveries, 0);
      const last = rows
        .map((row) => row.last)
        .sort()
        .at(-1)!;
      if (lookedAt === limit) left.push({ id, after: last });
    }
  }
}
