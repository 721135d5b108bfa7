import type { Action, Violation } from './history.js';
import { possibleValues, type Write } from './register.js';
import { endOf, isSuccess, RECORDING_MS, type Sending, sentAt } from './sendings.js';
import { FINISHED, isRestarted, type Timeline } from './timeline.js';

/** What is cancelled or switched off is sent no more after that. */
const PROMPT_MS = 1_000;
/** An answer that was written so long before a worker gave up did reach it. */
const ON_THE_WAY_MS = 250;
/** The receiver may note the end of a call later than the beginning of the next. */
const NOTED_LATE_MS = 100;

type Rule = (timeline: Timeline) => Violation[];

/** What may be sent, and when. */
export const sendingRules: readonly Rule[] = [
  callsAreRecorded,
  answersAreRecorded,
  nothingAfterSuccess,
  nothingAfterCancelling,
  nothingWhilePaused,
  rightTarget,
  oneAtATime,
];

/** Calls and recorded attempts are the same, unless the worker could not record. */
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

/** What the receiver answered is what is recorded. */
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
    return differs ? [violation('other outcome recorded', delivery.id, text)] : [];
  });
}

/** Whether the worker had given up before the receiver's answer can have reached it. */
export function gaveUp({ call, attempt }: Sending): boolean {
  if (attempt?.status !== undefined || !attempt) return false;
  return (call?.writtenAt ?? Infinity) > endOf(attempt) - ON_THE_WAY_MS;
}

/** Whoever takes a delivery sees a success that is on record. */
function nothingAfterSuccess(timeline: Timeline): Violation[] {
  const { delivery, sendings } = timeline;
  const successes = sendings.filter(({ attempt }) => isSuccess(attempt?.status));
  return successes.flatMap(({ attempt, harm, taken }) => {
    // One that was late met the delivery in any state.
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

/** An attempt on its way ends; apart from that nothing is sent a second after it was cancelled. */
function nothingAfterCancelling(timeline: Timeline): Violation[] {
  const { delivery, sendings, cancels } = timeline;
  return cancels.flatMap((cancel) => {
    // Made while it was being switched off, it may be of the time after.
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

/** Nothing is taken while its subscription is paused; what was taken just before is on its way. */
function nothingWhilePaused({ delivery, sendings, actions }: Timeline): Violation[] {
  const writes = writesOf(actions, { pause: true, resume: false });
  const isPaused = (from: number, to: number) =>
    !possibleValues(false, writes, { from, to }).has(false);
  const within = sendings.find((sending) => {
    const { taken, harm } = sending;
    const at = sentAt(sending);
    const isLate = at - PROMPT_MS > taken.to && !harm;
    return isPaused(taken.from, taken.to) || (isLate && isPaused(at - PROMPT_MS, at));
  });
  return within
    ? [violation('sent within a pause', delivery.id, `at ${time(sentAt(within))}`)]
    : [];
}

/** It goes where the subscription led when it was taken. */
function rightTarget({ delivery, sendings, actions, target }: Timeline): Violation[] {
  const writes = actions.flatMap((action): Write<string>[] =>
    action.kind === 'target' ? [{ ...action, value: action.target }] : [],
  );
  const wrong = sendings.find(
    ({ call, taken }) => call && !possibleValues(target, writes, taken).has(call.target),
  );
  const text = () => `to ${wrong?.call?.target ?? ''} at ${time(sentAt(wrong!))}`;
  return wrong ? [violation('sent to another target', delivery.id, text())] : [];
}

/** No two calls of one delivery at the same time. */
function oneAtATime({ delivery, sendings }: Timeline): Violation[] {
  const made = sendings.flatMap(({ call, harm }) => (call && !harm ? [call] : []));
  const overlap = made.find((call, index) =>
    made.some((other, at) => at > index && call.endedAt > other.at + NOTED_LATE_MS),
  );
  return overlap ? [violation('two calls at once', delivery.id, `from ${time(overlap.at)}`)] : [];
}

/** What actions of some kinds set something to. */
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
