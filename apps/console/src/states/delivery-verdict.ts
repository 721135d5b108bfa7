import type { Schemas } from '../app/api.js';
import type { Tone } from '../components/notice.js';
import { durationText } from '../components/time-text.js';
import { adviceFor, outcomeOf } from './answer.js';
import {
  type Block,
  heldUntil,
  type Moment,
  openBlock,
  OUR_NETWORK,
  PACED_BY,
  PAUSED,
  toldToOperator,
} from './blocks.js';
import { TONES } from './delivery-state.js';

type Delivery = Schemas['Delivery'];
type Attempt = Pick<Schemas['Attempt'], 'status' | 'error' | 'detail' | 'durationMs'>;
/** The subscription's current state, if it is known. */
export type Target = Pick<Schemas['Webhook'], 'enabled' | 'paused' | 'health'>;

/** The outcome of a delivery, in plain words. */
export interface Verdict {
  tone: Tone;
  sentence: string;
  /** Why it waits, and what the customer can do. */
  advice?: string;
  /** What happens next, and when. */
  next?: Moment;
}

type Reason = NonNullable<Delivery['reason']>;

const ENDINGS: Record<Reason, string> = {
  gone: 'Your server answered 410 Gone, so the subscription was disabled and this notification was given up.',
  no_attempts_left: 'There are no attempts left.',
  failing: 'Every attempt had failed for five days, so the subscription was disabled.',
  disabled: 'It was cancelled, because the subscription was disabled.',
  deleted: 'It was cancelled, because the subscription was deleted.',
  requested: 'It was cancelled on request.',
  erased: 'It was cancelled, because the data of its event was erased.',
  expired: 'It was given up, because it had reached the end of its retention.',
};

const TEST_ENDED = 'A test is tried once, and its failure does not count against its subscription.';

/**
 * Describes the outcome of a delivery.
 * @param attempts in order; the newest ones, if there are many
 * @param target undefined if the subscription was deleted or is unknown
 * @param now ms
 */
export function verdictOf(
  delivery: Pick<Delivery, 'state' | 'reason' | 'attempts' | 'nextAttemptAt' | 'waitsFor'> &
    Partial<Pick<Delivery, 'test'>>,
  attempts: readonly Attempt[],
  target: Target | undefined,
  now: number,
): Verdict {
  const last = attempts.at(-1);
  const outcomes = historyOf(attempts, delivery.attempts);
  const history = outcomes && `Your server ${outcomes}.`;
  const tone = TONES[delivery.state];
  switch (delivery.state) {
    case 'succeeded':
      return { tone, ...successOf(attempts, delivery.attempts) };
    case 'pending':
    case 'parked': {
      const block = blockOf(delivery, target, now);
      const advice = last && (isSuccess(last) ? 'It is being sent again.' : adviceFor(last));
      return {
        tone,
        sentence: history ?? 'This notification has not been sent yet.',
        ...advised([block?.reason, advice].filter(Boolean).join(' ')),
        next: block?.next ?? nextOf(delivery, now),
      };
    }
    case 'exhausted':
    case 'cancelled': {
      const { reason } = delivery;
      const isTest = delivery.test && reason === 'no_attempts_left' && delivery.attempts <= 1;
      const ending = isTest ? TEST_ENDED : reason && ENDINGS[reason];
      // The ending already mentions the 410.
      const isTold = reason === 'gone';
      const isBad = delivery.state === 'exhausted';
      const sentences = [isTold ? undefined : history, ending].filter(Boolean);
      return {
        tone,
        sentence: sentences[0] ?? 'This notification has ended.',
        ...(isBad && !isTold && advised(last && adviceFor(last))),
        next: { text: sentences[1] ?? 'Nothing more is sent.' },
      };
    }
  }
}

/** A verdict in the words for an operator. */
export function forOperator({ sentence, advice, next, ...others }: Verdict): Verdict {
  return {
    ...others,
    sentence: toldToOperator(sentence),
    ...advised(advice && toldToOperator(advice)),
    ...(next && { next: { ...next, text: toldToOperator(next.text) } }),
  };
}

const isSuccess = ({ status = 0 }: Attempt): boolean => status >= 200 && status < 300;

function successOf(attempts: readonly Attempt[], count: number) {
  const last = attempts.at(-1);
  const answer = last?.status === undefined ? '' : ` with ${last.status}`;
  const time = last ? ` in ${durationText(last.durationMs)}` : '';
  const which = count <= 1 ? 'the first attempt' : `attempt ${count}`;
  const before = count <= 1 ? undefined : historyOf(attempts.slice(0, -1), count - 1);
  return {
    sentence: `Your server accepted this notification${answer}${time}, at ${which}.`,
    ...advised(before && `Before that, it ${before}.`),
  };
}

/** At most this many different outcomes are listed. */
const MOST_RUNS = 4;

/** `answered 500 four times, then did not answer in time` */
function historyOf(attempts: readonly Attempt[], count: number): string | undefined {
  if (attempts.length === 0) return undefined;
  const runs: { what: string; gap: string; times: number }[] = [];
  for (const attempt of attempts) {
    const what = outcomeOf(attempt);
    const run = runs.at(-1);
    if (run?.what === what) run.times += 1;
    else runs.push({ what, gap: attempt.error ? ', ' : ' ', times: 1 });
  }
  const told = runs.map(({ what, gap, times }) =>
    times === 1 ? what : `${what}${gap}${WORDS[times] ?? `${times} times`}`,
  );
  const isLong = told.length > MOST_RUNS;
  const shown = isLong ? [...told.slice(0, 1), 'failed in other ways', ...told.slice(-2)] : told;
  const older =
    count > attempts.length ? ` (the newest ${attempts.length} of ${count} attempts)` : '';
  return `${shown.join(', then ')}${older}`;
}

const WORDS = ['', '', 'twice', 'three times', 'four times', 'five times', 'six times'];

/** A time within the second counts: the texts have whole seconds, and the pace moves times by less than one. */
const isDue = (at: string, now: number): boolean => Date.parse(at) < now + 1_000;

type Waiting = Pick<Delivery, 'state' | 'nextAttemptAt' | 'attempts' | 'waitsFor'>;

function nextOf({ state, nextAttemptAt, attempts }: Waiting, now: number): Moment {
  if (nextAttemptAt === undefined) {
    return state === 'parked'
      ? { text: 'It is sent when its subscription is ready.' }
      : { text: 'An attempt is on its way.' };
  }
  const text = attempts === 0 ? 'First try' : 'Next try';
  return isDue(nextAttemptAt, now) ? { text: `${text} is due now.` } : { text, at: nextAttemptAt };
}

/** Why a delivery waits for something other than its own schedule, as far as it is known. */
function blockOf(delivery: Waiting, target: Target | undefined, now: number): Block | undefined {
  const { state, nextAttemptAt, waitsFor } = delivery;
  const { paused, health } = target ?? {};
  if (state === 'pending') {
    if (waitsFor === 'hold') return OUR_NETWORK;
    const isPaced = nextAttemptAt !== undefined && isDue(nextAttemptAt, now);
    return isPaced && health?.pacedBy ? PACED_BY[health.pacedBy] : undefined;
  }
  if (paused) return PAUSED;
  if (health?.state === 'open') {
    // Its own next attempt may be later. The delivery and the subscription were not read at the same time.
    const at = [nextAttemptAt, health.until]
      .flatMap((time) => time ?? [])
      .sort()
      .at(-1);
    return openBlock(at === undefined || isDue(at, now) ? undefined : at);
  }
  if (!target) return unknownBlock(delivery, now);
  const isHeld = nextAttemptAt !== undefined && !isDue(nextAttemptAt, now);
  return isHeld ? heldUntil(nextAttemptAt) : undefined;
}

/** What may hold the delivery of a subscription that is not read, such as a customer's by an operator. */
function unknownBlock(delivery: Waiting, now: number): Block {
  // Only a paused one has no time for its next attempt.
  const start =
    delivery.nextAttemptAt === undefined ? 'The subscription is paused, or your' : 'Your';
  return {
    reason: `${start} server keeps failing or asked for a break.`,
    next: nextOf(delivery, now),
  };
}

const advised = (advice: string | undefined): { advice?: string } => (advice ? { advice } : {});
