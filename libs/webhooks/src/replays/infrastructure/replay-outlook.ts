import type { Run } from '#libs/runtime';
import { dayAt, newestFirst } from '../../partitions/partition-days.js';
import {
  addOutlook,
  outlookOf,
  type SendOutlook,
} from '../../subscriptions/domain/send-outlook.js';
import type { Replay } from '../domain/replay.js';
import { IS_HOLDING } from './replay.statements.js';
import {
  countStarted,
  DAYS_STARTED,
  OUTLOOK,
  REPLAYED_SUBSCRIPTIONS,
  type ReplayedSubscription,
} from './replay-outlook.statements.js';

interface Started {
  due: number;
  inFlight: number;
  retried: number;
}

/**
 * What becomes of the deliveries of a replay that have not ended: those that it has not started, and those that it has.
 * Looks at a limited number ({@link OUTLOOK}), so the counts may be too low for a large account.
 */
export async function readOutlook(
  run: Run,
  accountId: string,
  replay: Replay,
): Promise<SendOutlook> {
  const { id, webhookId, total, replayed } = replay;
  const subscriptions = await run(REPLAYED_SUBSCRIPTIONS, { id, webhookId, accountId });
  const started = await readStarted(run, subscriptions, replay);
  const [hold] = await run(IS_HOLDING);
  const outlook: SendOutlook = { now: 0, waiting: {} };
  // A replay starts more than it has counted if more are in its states meanwhile.
  let left = Math.max(total - replayed, 0);
  for (const subscription of subscriptions) {
    const { due = 0, inFlight = 0, retried = 0 } = started.get(subscription.id) ?? {};
    const remaining = Math.min(subscription.remaining, left);
    left -= remaining;
    const isHolding = hold?.isHolding === true;
    const { isBehind } = subscription;
    const begun = { ...subscription, isBehind: false };
    addOutlook(outlook, outlookOf(isBehind ? due : due + remaining, begun, isHolding));
    if (isBehind) addOutlook(outlook, outlookOf(remaining, subscription, isHolding));
    addOutlook(outlook, { now: inFlight, waiting: retried === 0 ? {} : { schedule: retried } });
  }
  return outlook;
}

async function readStarted(
  run: Run,
  subscriptions: readonly ReplayedSubscription[],
  { since, until, event, missed }: Replay,
): Promise<Map<string, Started>> {
  const counts = new Map<string, Started>();
  if (subscriptions.length === 0) return counts;
  const { deliveries, deliveriesOfAll } = OUTLOOK;
  const values = {
    ...{ event, missed: missed === true, since: since.toISOString(), until: until.toISOString() },
    webhookIds: subscriptions.map((subscription) => subscription.id),
    limit: Math.min(deliveries, Math.floor(deliveriesOfAll / subscriptions.length)),
  };
  const days = { first: dayAt(since), last: dayAt(until) };
  for await (const span of newestFirst(run, 'deliveries', DAYS_STARTED, days)) {
    for (const { webhookId, due, inFlight, retried } of await run(countStarted(span), values)) {
      const before = counts.get(webhookId) ?? { due: 0, inFlight: 0, retried: 0 };
      counts.set(webhookId, {
        due: before.due + due,
        inFlight: before.inFlight + inFlight,
        retried: before.retried + retried,
      });
    }
  }
  return counts;
}
