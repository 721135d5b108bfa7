import type { Accepted, Call, Subscription, Violation } from './history.js';
import { time, violation } from './sending-rules.js';
import { PRECISION_MS, type Sending, sentAt } from './sendings.js';
import { maySendNow, type Timeline } from './timeline.js';

/** How late a claim may be without a loss of rate, in ms: so much may be sent at once. */
const CREDIT_MS = 100;
/** The receiver may notice a broken connection this late. */
const NOTED_LATE_MS = 100;

/** Rules for all deliveries of a subscription together. */
export function paceViolations(
  subscription: Subscription,
  timelines: readonly Timeline[],
  accepted: readonly Accepted[],
): Violation[] {
  const sendings = timelines.flatMap((timeline) =>
    // What a customer sends at once has no pace.
    timeline.sendings.filter((sending) => !maySendNow(timeline, sentAt(sending))),
  );
  return [
    ...tooFast(subscription, sendings),
    ...tooMany(subscription, sendings),
    ...(subscription.ordered === true ? outOfOrder(timelines, accepted) : []),
  ];
}

/** In any span, no more deliveries are leased than the rate allows in it and in the credit, and one. */
function tooFast({ id, maxPerSecond }: Subscription, sendings: readonly Sending[]): Violation[] {
  if (maxPerSecond === undefined) return [];
  const times = sendings.flatMap(({ attempt }) => attempt?.at ?? []).sort((one, two) => one - two);
  const perMs = maxPerSecond / 1_000;
  /** The least number of deliveries before one, less those that the rate allows until then. */
  let least = Infinity;
  for (const [number, at] of times.entries()) {
    const surplus = number - at * perMs;
    least = Math.min(least, surplus);
    if (surplus > least + (CREDIT_MS + PRECISION_MS) * perMs) {
      return [{ rule: 'sent too fast', text: `subscription ${id}, at ${time(at)}` }];
    }
  }
  return [];
}

/** No more calls are in flight than allowed; only one of an ordered subscription. */
function tooMany(
  { id, maxConcurrent = Infinity, ordered }: Subscription,
  sendings: readonly Sending[],
): Violation[] {
  const most = ordered === true ? 1 : maxConcurrent;
  if (most === Infinity) return [];
  const calls = sendings.flatMap(({ call, harm }) => (call && !harm ? [call] : []));
  const changes = calls.flatMap((call) => {
    const end = endOf(call);
    return end > call.at ? [[call.at, 1] as const, [end, -1] as const] : [];
  });
  let inFlight = 0;
  for (const [at, change] of changes.sort(
    ([at, change], [to, other]) => at - to || change - other,
  )) {
    inFlight += change;
    if (inFlight > most) {
      return [{ rule: 'too many calls at once', text: `subscription ${id}, at ${time(at)}` }];
    }
  }
  return [];
}

function endOf({ writtenAt, endedAt }: Call): number {
  return writtenAt ?? endedAt - NOTED_LATE_MS;
}

/**
 * No delivery is sent before the last attempt of an earlier event's, except those that a customer asks for. An event is
 * earlier if it was answered before the other was reported.
 */
function outOfOrder(timelines: readonly Timeline[], accepted: readonly Accepted[]): Violation[] {
  const acceptances = new Map(accepted.map((one) => [one.eventId, one]));
  const all = timelines
    .flatMap((timeline) => {
      const acceptance = acceptances.get(timeline.delivery.eventId);
      return acceptance ? [{ ...acceptance, id: timeline.delivery.id, ...sentIn(timeline) }] : [];
    })
    .sort((one, other) => one.from - other.from);
  /** The first time at which this one or a later one was sent. */
  const firsts = new Array<number>(all.length + 1).fill(Infinity);
  for (let at = all.length - 1; at >= 0; at -= 1) {
    firsts[at] = Math.min(firsts[at + 1]!, all[at]!.first);
  }
  let later = 0;
  return all
    .toSorted((one, other) => one.to - other.to)
    .flatMap(({ id, to, last }) => {
      while (later < all.length && all[later]!.from <= to) later += 1;
      const first = firsts[later]!;
      if (first >= last - PRECISION_MS) return [];
      const text = `sent at ${time(last)}, a later one at ${time(first)}`;
      return [violation('sent out of order', id, text)];
    });
}

/** When a delivery was first and last sent before a customer asked to send it. */
function sentIn({ sendings, restarts }: Timeline): { first: number; last: number } {
  const askedAt = Math.min(...restarts.map(({ from }) => from));
  const unasked = sendings.filter(({ taken }) => taken.to < askedAt);
  const unharmed = unasked.filter(({ harm }) => !harm);
  return {
    first: Math.min(...unasked.map(({ taken }) => taken.to)),
    last: Math.max(-Infinity, ...unharmed.map(({ taken }) => taken.from)),
  };
}
