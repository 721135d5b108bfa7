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
  type Started,
} from './replay-outlook.statements.js';

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
  const isHolding = hold?.isHolding === true;
  const outlook: SendOutlook = { now: 0, waiting: {} };
  // A replay starts more than it has counted if more are in its states meanwhile.
  const ofRest = upTo(Math.max(total - replayed, 0));
  // Others may have started deliveries of its time range, too.
  const ofStarted = upTo(replayed);
  for (const subscription of subscriptions) {
    const { due = 0, inFlight = 0, retried = 0 } = started.get(subscription.id) ?? {};
    const [flying, tried, later] = [ofStarted(inFlight), ofStarted(due), ofStarted(retried)];
    const rest = ofRest(subscription.remaining);
    const { isBehind } = subscription;
    const begun = { ...subscription, isBehind: false };
    addOutlook(outlook, outlookOf(isBehind ? tried : tried + rest, begun, isHolding));
    if (isBehind) addOutlook(outlook, outlookOf(rest, subscription, isHolding));
    addOutlook(outlook, { now: flying, waiting: later === 0 ? {} : { schedule: later } });
  }
  return outlook;
}

/** Limits numbers so that their sum is at most `most`. */
function upTo(most: number): (count: number) => number {
  let left = most;
  return (count) => {
    const taken = Math.min(count, left);
    left -= taken;
    return taken;
  };
}

async function readStarted(
  run: Run,
  subscriptions: readonly ReplayedSubscription[],
  { since, until, event, missed, replayed }: Replay,
): Promise<Map<string, Started>> {
  const counts = new Map<string, Started>();
  if (subscriptions.length === 0 || replayed === 0) return counts;
  const { deliveries, deliveriesOfAll } = OUTLOOK;
  const values = {
    ...{ event, missed: missed === true, since: since.toISOString(), until: until.toISOString() },
    webhookIds: subscriptions.map((subscription) => subscription.id),
    limit: Math.min(deliveries, Math.floor(deliveriesOfAll / subscriptions.length)),
  };
  const days = { first: dayAt(since), last: dayAt(until) };
  for await (const span of newestFirst(run, 'deliveries', DAYS_STARTED, days)) {
    for (const found of await run(countStarted(span), values)) {
      const { webhookId, due, inFlight, retried } = found;
      const before = counts.get(webhookId);
      if (!before) {
        counts.set(webhookId, found);
        continue;
      }
      before.due += due;
      before.inFlight += inFlight;
      before.retried += retried;
    }
  }
  return counts;
}
