import type { Attempt, Call, Harm, Span } from './history.js';

/** An answer reaches the worker and is recorded within this time. */
export const RECORDING_MS = 3_000;

/** Times are truncated to whole milliseconds. */
export const PRECISION_MS = 2;

/** One attempt, as the receiver saw it and as it was recorded. One of the two may be missing. */
export interface Sending {
  call?: Call;
  attempt?: Attempt;
  /** Whether the call is the second one of this attempt; see {@link isSentOnceMore}. */
  isSecond?: boolean;
  /** When a worker leased the delivery for it, to the millisecond if recorded, otherwise to the second. */
  taken: Span;
  /** The fault that kept its outcome from being recorded in time. */
  harm?: Harm;
}

/**
 * Matches the calls of one delivery with its recorded attempts. A call belongs to the last attempt that its worker
 * began within the signed second. @returns the attempts in the order of their leases
 */
export function sendingsOf(
  calls: readonly Call[],
  attempts: readonly Attempt[],
  harms: readonly Harm[],
): Sending[] {
  const sendings: Omit<Sending, 'harm'>[] = attempts
    .toSorted((one, other) => one.at - other.at)
    .map((attempt) => ({ attempt, taken: { from: attempt.at, to: attempt.at } }));
  for (const call of calls.toSorted((one, other) => one.at - other.at)) {
    const sending = sendings.findLast(({ attempt }) => attempt && mayBeOf(call, attempt));
    if (sending && (!sending.call || isSentOnceMore(call, sending))) {
      sending.isSecond = sending.call !== undefined;
      sending.call = call;
      continue;
    }
    const taken = { from: call.signedAt, to: Math.min(call.signedAt + 999, call.at) };
    sendings.push({ call, taken });
  }
  return sendings
    .map((sending) => withHarm(sending, harms))
    .toSorted((one, other) => one.taken.from - other.taken.from);
}

function mayBeOf(call: Call, attempt: Attempt): boolean {
  return (
    (attempt.worker === undefined || call.worker === attempt.worker) &&
    call.signedAt === Math.floor(attempt.at / 1_000) * 1_000 &&
    call.at >= attempt.at - PRECISION_MS
  );
}

/**
 * If a reused connection ends before an answer, the worker repeats the request at once, in the same attempt. The attempt
 * may have begun long before, on a busy machine or in a frozen worker, so only its duration tells.
 */
function isSentOnceMore(call: Call, { call: first, attempt, isSecond }: Sending): boolean {
  if (!first?.reused || first.answer !== undefined || isSecond || !attempt) return false;
  return call.at <= first.at + attempt.durationMs + PRECISION_MS;
}

function withHarm(sending: Omit<Sending, 'harm'>, harms: readonly Harm[]): Sending {
  const { call, attempt, taken } = sending;
  const worker = call?.worker ?? attempt?.worker;
  const end = attempt ? endOf(attempt) : (call?.endedAt ?? 0);
  const harm = harms.find(
    (one) =>
      (one.worker === undefined || worker === undefined || one.worker === worker) &&
      one.from <= end + RECORDING_MS &&
      one.to >= taken.from &&
      // A recorded outcome comes from a live worker.
      !(attempt && one.kind === 'killed'),
  );
  return { ...sending, ...(harm && { harm }) };
}

/** When the worker had an answer, or gave up. */
export function endOf({ at, durationMs }: Attempt): number {
  return at + durationMs;
}

/** When it was sent, as far as the history tells. */
export function sentAt({ call, taken }: Sending): number {
  return call?.at ?? taken.to;
}

export function isSuccess(status: number | undefined): boolean {
  return status !== undefined && status >= 200 && status < 300;
}
