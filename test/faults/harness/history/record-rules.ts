import type { Attempt, Span, Violation } from './history.js';
import { time, violation } from './sending-rules.js';
import { endOf, isSuccess, PRECISION_MS, RECORDING_MS } from './sendings.js';
import { covered, FINISHED, isRestarted, maySendNow, type Timeline } from './timeline.js';

/** The share by which a delay is randomly longer or shorter. */
const JITTER = 0.2;

type Rule = (timeline: Timeline) => Violation[];

/** Rules for the recorded state of a delivery. */
export const recordRules: readonly Rule[] = [
  isFinished,
  numbersCount,
  followsSchedule,
  endsForAReason,
  restartsAreSent,
];

function isFinished({ delivery, endedAt }: Timeline): Violation[] {
  const { id, state, leasedUntil = 0 } = delivery;
  if (state === 'pending') return [violation('not finished', id, 'pending at the end')];
  return leasedUntil > endedAt
    ? [violation('not finished', id, `leased until ${time(leasedUntil)}`)]
    : [];
}

/** Attempts count 1, 2, 3. A number appears twice only if a worker recorded late. */
function numbersCount({ delivery, sendings }: Timeline): Violation[] {
  const { id, attempts } = delivery;
  const made = sendings.filter(({ attempt }) => attempt);
  const numbers = made.map(({ attempt }) => attempt!.number);
  const inTime = made.filter(({ harm }) => !harm).map(({ attempt }) => attempt!.number);
  const twice = inTime.find((number, index) => inTime.indexOf(number) !== index);
  const expected = Array.from({ length: Math.max(attempts, ...numbers) }, (_, index) => index + 1);
  const missing = expected.find((number) => !numbers.includes(number));
  const most = Math.max(0, ...numbers);
  return [
    ...(twice === undefined ? [] : [violation('number used twice', id, `number ${twice}`)]),
    ...(missing === undefined ? [] : [violation('number missing', id, `number ${missing}`)]),
    ...(most === attempts
      ? []
      : [violation('attempts miscounted', id, `${attempts} instead of ${most}`)]),
  ];
}

/** A retry starts after its delay, and not much later. */
function followsSchedule(timeline: Timeline): Violation[] {
  const { delivery, sendings, blocked, expected } = timeline;
  const { latestMs = Infinity } = expected;
  const attempts = sendings.flatMap(({ attempt }) => attempt ?? []);
  return attempts.flatMap((attempt) => {
    const { number, at } = attempt;
    const before = attempts.filter((one) => one.number === number - 1);
    if (number > 1 && before.length === 0) return [];
    const due = number === 1 ? firstDue(timeline) : dueAfter(before, timeline, at);
    if (due === undefined) return [];
    const text = `number ${number} at ${time(at)}, due from ${time(due.from)} to ${time(due.to)}`;
    if (due.from === Infinity) return [violation('sent after the last retry', delivery.id, text)];
    if (at < due.from - PRECISION_MS) return [violation('sent too early', delivery.id, text)];
    // Most attempts are in time, so compute the blocked time only for the others.
    if (at - due.to <= latestMs) return [];
    const waited = at - due.to - covered({ from: due.to, to: at }, blocked);
    return waited > latestMs ? [violation('sent too late', delivery.id, text)] : [];
  });
}

const firstDue = ({ delivery: { createdAt } }: Timeline): Span => ({
  from: createdAt,
  to: createdAt,
});

/** @returns undefined if the delivery restarted in between, or may have been sent at once; a span from Infinity if no retry was left */
function dueAfter(before: readonly Attempt[], timeline: Timeline, at: number): Span | undefined {
  const first = Math.min(...before.map((one) => one.at));
  const between = { from: first, to: at };
  if (maySendNow(timeline, at) || isRestarted(timeline, FINISHED, between)) return undefined;
  const { schedule } = timeline.expected;
  const delays = basesOf(timeline).flatMap((base) => {
    const delay = schedule[before[0]!.number - base - 1];
    return delay === undefined ? [] : [delay];
  });
  const asked = before.map(({ retryAfterMs = 0 }) => retryAfterMs);
  const ends = before.map(endOf);
  return {
    from: Math.min(...ends) + Math.max(Math.min(...delays) * (1 - JITTER), Math.min(...asked)),
    to: Math.max(...ends) + Math.max(...delays.map((one) => one * (1 + JITTER)), ...asked),
  };
}

/** How many attempts may have been recorded when the schedule started or restarted. */
function basesOf({ sendings, restarts }: Timeline): number[] {
  const attempts = sendings.flatMap(({ attempt }) => attempt ?? []);
  const bases = attempts
    .filter(({ number, at }) => {
      const next = attempts.filter((one) => one.number === number + 1);
      const nextBy = Math.max(...next.map((one) => endOf(one) + RECORDING_MS));
      return restarts.some(({ from, to }) => at <= to && (next.length === 0 || nextBy >= from));
    })
    .map(({ number }) => number);
  return [0, ...new Set(bases)];
}

/** The state matches the outcomes of the attempts. */
function endsForAReason({ delivery, sendings, cancels, expected }: Timeline): Violation[] {
  const { id, state, reason = '', attempts: count, scheduleBase, extraAttempts } = delivery;
  const attempts = sendings.flatMap(({ attempt }) => attempt ?? []);
  const present = attempts.filter(({ number }) => number > scheduleBase);
  const hasSucceeded = present.some(({ status }) => isSuccess(status));
  const tries = count - scheduleBase - extraAttempts;
  const most = expected.schedule.length + 1;
  const checks: [boolean, string, string][] = [
    [hasSucceeded && state !== 'succeeded', 'success overwritten', `it is ${state}`],
    [!hasSucceeded && state === 'succeeded', 'success without an attempt', 'no attempt has a 2xx'],
    [state === 'cancelled' && cancels.length === 0, 'cancelled without a request', reason],
    [
      reason === 'no_attempts_left' && tries !== most,
      'retries skipped',
      `given up after ${tries} of ${most} attempts`,
    ],
    [
      reason === 'gone' && !attempts.some(({ status }) => status === 410),
      'gone without a 410',
      reason,
    ],
  ];
  return checks.filter(([isSo]) => isSo).map(([, rule, text]) => violation(rule, id, text));
}

/** After an accepted redelivery, the delivery is sent again, unless it is cancelled first. */
function restartsAreSent({ delivery, sendings, restarts, cancels }: Timeline): Violation[] {
  const forgotten = restarts.find(
    (restart) =>
      // It is unknown which deliveries a replay found.
      restart.kind === 'redeliver' &&
      restart.to < Infinity &&
      !cancels.some(({ to }) => to >= restart.from) &&
      !sendings.some(({ taken, harm }) => taken.to >= restart.from || harm),
  );
  return forgotten
    ? [violation('not sent again', delivery.id, `accepted at ${time(forgotten.to)}`)]
    : [];
}
