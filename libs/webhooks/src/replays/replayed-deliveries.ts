import { MAX_SCANNED_ROWS } from '#libs/kernel';
import type { Run } from '#libs/runtime';
import { newestFirst, type Span } from '../partitions/partition-days.js';
import {
  countReplayable,
  DAYS_FOUND,
  type ReplayableValues,
} from './infrastructure/replay.statements.js';

/**
 * How many deliveries a replay would send, by subscription; those without any are absent.
 * @param days of the deliveries
 */
export async function countReplayed(
  run: Run,
  subscriptions: readonly { id: string }[],
  values: ReplayableValues & { after: string },
  days: Span,
): Promise<Map<string, number>> {
  const counts = new Map<string, number>();
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
  counts: Map<string, number>,
): Promise<void> {
  let left = subscriptions.map(({ id }) => ({ id, after }));
  while (left.length > 0) {
    const limit = Math.floor(MAX_SCANNED_ROWS / left.length);
    const found = await run(countReplayable(span), {
      ...values,
      ...{ webhookIds: left.map(({ id }) => id), afters: left.map((one) => one.after), limit },
    });
    for (const { webhookId, deliveries } of found) {
      counts.set(webhookId, (counts.get(webhookId) ?? 0) + deliveries);
    }
    left = found
      .filter(({ lookedAt }) => lookedAt === limit)
      .map(({ webhookId, last }) => ({ id: webhookId, after: last }));
  }
}
