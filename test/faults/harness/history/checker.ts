import { groupBy } from '#libs/kernel';
import { feedViolations } from './feed-rules.js';
import type {
  Action,
  Call,
  Delivery,
  Expectations,
  History,
  Subscription,
  Violation,
} from './history.js';
import { paceViolations } from './pace-rules.js';
import { recordRules } from './record-rules.js';
import { possibleValues } from './register.js';
import { gaveUp, sendingRules, violation, writesOf } from './sending-rules.js';
import { isSuccess, type Sending, sendingsOf, sentAt } from './sendings.js';
import { blockedSpans, cancelsOf, isRestarted, restartsOf, type Timeline } from './timeline.js';

/** The verdict on a history. */
export interface Verdict {
  violations: Violation[];
  /** Calls answered with 2xx after which another call of the same delivery was justified. */
  explained: Set<Call>;
}

/**
 * Checks the promises delivery by delivery. Ignores calls and rows of subscriptions that the history does not name.
 */
export function judge(history: History, expected: Expectations): Verdict {
  const verdict = strangers(history);
  verdict.violations.push(...feedViolations(history));
  for (const subscription of viewsOf(history)) {
    verdict.violations.push(...wrongNumber(history, subscription));
    const timelines = timelinesOf(history, subscription, expected);
    verdict.violations.push(...paceViolations(subscription, timelines, history.accepted));
    for (const timeline of timelines) {
      for (const rule of RULES) verdict.violations.push(...rule(timeline));
      for (const call of explainedCalls(timeline)) verdict.explained.add(call);
    }
  }
  return verdict;
}

const RULES = [...sendingRules, ...recordRules];

/** The history of one subscription. */
interface View extends Subscription {
  deliveries: readonly Delivery[];
  /** By delivery. */
  sendings: ReadonlyMap<string, readonly Sending[]>;
  /** The actions that affect all its deliveries. */
  actions: readonly Action[];
}

function viewsOf(history: History): View[] {
  const { subscriptions, harms } = history;
  const deliveries = groupBy(history.deliveries, ({ subscription }) => subscription);
  const calls = groupBy(history.calls, ({ delivery }) => delivery);
  const attempts = groupBy(history.attempts, ({ delivery }) => delivery);
  const actions = [...history.actions, ...goneAnswers(history)];
  return subscriptions.map((subscription) => {
    const own = deliveries.get(subscription.id) ?? [];
    const sendings = own.map(
      ({ id }) => [id, sendingsOf(calls.get(id) ?? [], attempts.get(id) ?? [], harms)] as const,
    );
    return {
      ...subscription,
      deliveries: own,
      sendings: new Map(sendings),
      actions: actions.filter(
        (action) => 'subscription' in action && action.subscription === subscription.id,
      ),
    };
  });
}

function timelinesOf(history: History, view: View, expected: Expectations): Timeline[] {
  const { actions, sendings, target } = view;
  const { endedAt, harms } = history;
  const blocked = blockedSpans(actions, [...sendings.values()].flat(), harms);
  const ofOne = groupBy(
    history.actions.filter((action) => 'delivery' in action),
    ({ delivery }) => delivery,
  );
  return view.deliveries.map((delivery) => {
    const touching = [...actions, ...(ofOne.get(delivery.id) ?? [])];
    return {
      delivery,
      sendings: sendings.get(delivery.id) ?? [],
      restarts: restartsOf(touching),
      cancels: cancelsOf(delivery, touching),
      actions,
      blocked,
      target,
      endedAt,
      expected,
    };
  });
}

/** A 410 switches a subscription off, sooner or later. */
function goneAnswers({ calls, deliveries }: History): Action[] {
  const gone = calls.filter(({ answer }) => answer === 410);
  if (gone.length === 0) return [];
  const subscriptions = new Map(deliveries.map(({ id, subscription }) => [id, subscription]));
  return gone.flatMap(({ delivery, at }) => {
    const subscription = subscriptions.get(delivery);
    return subscription === undefined
      ? []
      : [{ kind: 'off', subscription, from: at, to: Infinity } as const];
  });
}

/** Calls of deliveries that PostgreSQL does not have. A restore may have lost them. */
function strangers({ deliveries, calls, harms }: History): Verdict {
  const ids = new Set(deliveries.map(({ id }) => id));
  const unknown = groupBy(
    calls.filter(({ delivery }) => !ids.has(delivery)),
    ({ delivery }) => delivery,
  );
  const isExcused = (call: Call) => sendingsOf([call], [], harms)[0]?.harm !== undefined;
  return {
    violations: [...unknown]
      .filter(([, made]) => !made.every(isExcused))
      .map(([delivery]) =>
        violation('unknown delivery', delivery, 'PostgreSQL has no such delivery'),
      ),
    explained: new Set([...unknown.values()].flat().filter(isExcused)),
  };
}

/** Expects one delivery for each event that was accepted while the subscription was on, and none for others. */
function wrongNumber({ accepted }: History, { id, deliveries, actions }: View): Violation[] {
  const made = groupBy(deliveries, ({ eventId }) => eventId);
  const writes = writesOf(actions, { on: true, off: false });
  return accepted.flatMap(({ eventId, from, to }) => {
    const count = made.get(eventId)?.length ?? 0;
    const states = possibleValues(true, writes, { from, to });
    const least = states.has(false) ? 0 : 1;
    const most = states.has(true) ? 1 : 0;
    if (count >= least && count <= most) return [];
    const text = `${count} deliveries of event ${eventId} to subscription ${id}`;
    return [{ rule: count < least ? 'delivery missing' : 'extra delivery', text }];
  });
}

/**
 * A call is explained if its answer arrived late or was not recorded in time, if a customer asked for it again, or if a
 * worker sent it after being frozen.
 */
function explainedCalls(timeline: Timeline): Call[] {
  const { sendings } = timeline;
  const isOvertaken = (sending: Sending) =>
    sendings.some(
      (other) =>
        other.harm && other.taken.from < sending.taken.from && sentAt(other) > sentAt(sending),
    );
  const isExplained = (sending: Sending) =>
    sending.harm !== undefined ||
    gaveUp(sending) ||
    isOvertaken(sending) ||
    isRestarted(timeline, ['succeeded'], { from: sending.taken.from, to: Infinity });
  return sendings
    .filter((sending) => isSuccess(sending.call?.answer) && isExplained(sending))
    .flatMap(({ call }) => call ?? []);
}
