import type { Action, Violation } from './history.js';
import { possibleValues, type Write } from './register.js';
import { endOf, isSuccess, RECORDING_MS, type Sending, sentAt } from './sendings.js';
import { FINISHED, isRestarted, maySendNow, type Timeline } from './timeline.js';

/** Within this time, a cancellation takes effect on every worker. */
const PROMPT_MS = 1_000;
/** An answer that was written this long before a worker gave up has reached the worker. */
const ON_THE_WAY_MS = 250;
/** The receiver may notice the end of a call after the start of the next. */
const NOTED_LATE_MS = 100;

type Rule = (timeline: Timeline) => Violation[];

/** Rules for what may be sent, and when. */
export const sendingRules: readonly Rule[] = [
  callsAreRecorded,
  answersAreRecorded,
  nothingAfterSuccess,
  nothingAfterCancelling,
  nothingWhilePaused,
  rightTarget,
  oneAtATime,
];

/** Every call has a recorded attempt and vice versa, unless the worker could not record. */
function callsAreRecorded({ delivery, sendings }: Timeline): Violation[] {
  return sendings.flatMap(({ call, attempt, harm }) => {
    if (call && !attempt && !harm) {
      return [
        violation('call not recorded', delivery.id, `worker ${call.worker} at ${time(call.at)}`),
      ];
    }
    if (attempt?.status !== undefined && !call) {
      return [violation('attempt without a call', delivery.id, `number ${attempt.number}`)];
    }
    return [];
  });
}

/** The recorded outcome is what the receiver answered. */
function answersAreRecorded({ delivery, sendings }: Timeline): Violation[] {
  return sendings.flatMap((sending) => {
    const { call, attempt, harm } = sending;
    if (!call || !attempt) return [];
    const { number, status, error = '' } = attempt;
    const differs =
      status === undefined
        ? call.writtenAt !== undefined && !gaveUp(sending) && !harm
        : status !== call.answer;
    const text = `number ${number}: ${status ?? error} instead of ${call.answer ?? 'no answer'}`;
    return differs ? [violation('wrong outcome recorded', delivery.id, text)] : [];
  });
}

/** Whether the worker may have given up before the receiver's answer reached it. */
export function gaveUp({ call, attempt }: Sending): boolean {
  if (attempt?.status !== undefined || !attempt) return false;
  return (call?.writtenAt ?? Infinity) > endOf(attempt) - ON_THE_WAY_MS;
}

/** A worker that leases a delivery sees a success that was recorded before. */
function nothingAfterSuccess(timeline: Timeline): Violation[] {
  const { delivery, sendings } = timeline;
  const successes = sendings.filter(({ attempt }) => isSuccess(attempt?.status));
  return successes.flatMap(({ attempt, harm, taken }) => {
    // A late worker may find the delivery in any state.
    const recordedBy = harm ? Math.max(harm.to, endOf(attempt!)) + RECORDING_MS : taken.to;
    const states = harm ? FINISHED : ['succeeded'];
    const later = sendings.find(
      (other) =>
        other.taken.from > recordedBy &&
        !isRestarted(timeline, states, { from: taken.from, to: other.taken.to }),
    );
    const text = () => `at ${time(sentAt(later!))}`;
    return later ? [violation('sent after a success', delivery.id, text())] : [];
  });
}

/** Nothing is sent more than a second after the cancellation, except an attempt in flight. */
function nothingAfterCancelling(timeline: Timeline): Violation[] {
  const { delivery, sendings, cancels } = timeline;
  return cancels.flatMap((cancel) => {
    // A delivery that was created during the switch may belong to the time after it.
    if (cancel.kind === 'off' && delivery.createdAt >= cancel.from) return [];
    const later = sendings.find(
      (sending) =>
        sentAt(sending) > cancel.to + PROMPT_MS &&
        !(sending.harm && sending.taken.from <= cancel.to) &&
        !isRestarted(timeline, FINISHED, { from: cancel.from, to: sending.taken.to }),
    );
    const text = () => `${cancel.kind} until ${time(cancel.to)}, sent at ${time(sentAt(later!))}`;
    return later ? [violation('sent after it was cancelled', delivery.id, text())] : [];
  });
}

/** No delivery is leased while its subscription is paused, unless it is to be sent at once. Those leased just before are in flight. */
function nothingWhilePaused(timeline: Timeline): Violation[] {
  const { delivery, sendings, actions } = timeline;
  const writes = writesOf(actions, { pause: true, resume: false });
  const isPaused = (from: number, to: number) =>
    !possibleValues(false, writes, { from, to }).has(false);
  const within = sendings.find((sending) => {
    const { taken, harm } = sending;
    const at = sentAt(sending);
    if (maySendNow(timeline, at)) return false;
    const isLate = at - PROMPT_MS > taken.to && !harm;
    return isPaused(taken.from, taken.to) || (isLate && isPaused(at - PROMPT_MS, at));
  });
  return within
    ? [violation('sent during a pause', delivery.id, `at ${time(sentAt(within))}`)]
    : [];
}

/** A call goes to the target that the subscription had when the delivery was leased. */
function rightTarget({ delivery, sendings, actions, target }: Timeline): Violation[] {
  const writes = actions.flatMap((action): Write<string>[] =>
    action.kind === 'target' ? [{ ...action, value: action.target }] : [],
  );
  const wrong = sendings.find(
    ({ call, taken }) => call && !possibleValues(target, writes, taken).has(call.target),
  );
  const text = () => `to ${wrong?.call?.target ?? ''} at ${time(sentAt(wrong!))}`;
  return wrong ? [violation('sent to the wrong target', delivery.id, text())] : [];
}

/** No two calls of one delivery overlap. */
function oneAtATime({ delivery, sendings }: Timeline): Violation[] {
  const made = sendings.flatMap(({ call, harm }) => (call && !harm ? [call] : []));
  const overlap = made.find((call, index) =>
    made.some((other, at) => at > index && call.endedAt > other.at + NOTED_LATE_MS),
  );
  return overlap ? [violation('two calls at once', delivery.id, `from ${time(overlap.at)}`)] : [];
}

/** The values that actions of these kinds write. */
export function writesOf<Value>(
  actions: readonly Action[],
  values: Partial<Record<Action['kind'], Value>>,
): Write<Value>[] {
  return actions.flatMap(({ kind, from, to }) => {
    const value = values[kind];
    return value === undefined ? [] : [{ value, from, to }];
  });
}

export function violation(rule: string, delivery: string, text: string): Violation {
  return { rule, delivery, text };
}

export function time(at: number): string {
  return Number.isFinite(at) ? new Date(at).toISOString().slice(11, 23) : 'never';
}
