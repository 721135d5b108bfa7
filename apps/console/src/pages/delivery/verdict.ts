import type { Schemas } from '../../app/api.js';
import type { Tone } from '../../components/notice.js';
import { durationText } from '../../components/time-text.js';

type Delivery = Schemas['Delivery'];
type Attempt = Pick<Schemas['Attempt'], 'status' | 'error' | 'detail' | 'durationMs'>;
/** The subscription's current state, if it is known. */
export type Target = Pick<Schemas['Webhook'], 'enabled' | 'paused' | 'health'>;

/** The outcome of a delivery, in plain words. */
export interface Verdict {
  tone: Tone;
  sentence: string;
  /** The cause, or what the customer can do. */
  advice?: string;
  /** What happens next, and when. */
  next?: { text: string; at?: string };
}

type Reason = NonNullable<Delivery['reason']>;
type AttemptError = NonNullable<Schemas['Attempt']['error']>;
type AttemptDetail = NonNullable<Schemas['Attempt']['detail']>;

/** What the server did. */
const ERRORS: Record<AttemptError, string> = {
  dns: 'could not be found in DNS',
  refused: 'refused the connection',
  reset: 'broke off the connection',
  timeout: 'did not answer in time',
  tls: 'failed the TLS handshake',
  blocked: 'had an address that may not be called',
  protocol: 'answered with invalid HTTP',
};

/** The same, where more is known. */
const DETAILS: Partial<Record<AttemptDetail, string>> = {
  expired: 'had a certificate that is not valid now',
  name: 'had a certificate for another name',
  untrusted: 'had a certificate that is not trusted',
  client_certificate: 'wanted a certificate of the client',
  proxy: 'could not be reached through our proxy',
};

const DETAIL_ADVICE: Partial<Record<AttemptDetail, string>> = {
  expired: 'Renew the certificate, and check the clock of your server.',
  name: 'Use a certificate for the host name of the target address.',
  untrusted:
    'Use a certificate of a public authority, and send its whole chain, intermediate certificates included.',
  client_certificate:
    'No certificate is sent: verify the signature of notifications instead of asking for one.',
  protocol: 'Offer TLS 1.2 or 1.3 at that port, and do not ask for a certificate of the client.',
  proxy: 'If your server works, ask the operator whether the proxy lets calls to it through.',
};

const ERROR_ADVICE: Record<AttemptError, string> = {
  dns: 'Check the host name of the target address, and its DNS records.',
  refused: 'Check that your server runs, and listens on the port of the target address.',
  reset: 'Check the logs of your server, and of any proxy before it, at the time of the attempt.',
  timeout: 'Answer with 2xx first, and do slow work afterwards.',
  tls: 'Check that the certificate is valid, complete, and for this host name.',
  blocked: 'Use a target that is reachable at a public address.',
  protocol: 'Check that the target address leads to an HTTP server.',
};

const ENDINGS: Record<Reason, string> = {
  gone: 'Your server answered 410 Gone, so the subscription was switched off and this notification was given up.',
  no_attempts_left: 'There are no attempts left.',
  failing: 'Every attempt had failed for five days, so the subscription was switched off.',
  disabled: 'It was cancelled, because the subscription was switched off.',
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
  const advice = last && adviceFor(last);
  switch (delivery.state) {
    case 'succeeded':
      return { tone: 'good', ...successOf(attempts, delivery.attempts) };
    case 'pending': {
      const isAgain = last !== undefined && isSuccess(last);
      return {
        tone: last === undefined || isAgain ? 'waiting' : 'bad',
        sentence: history ?? 'This notification has not been sent yet.',
        ...advised(isAgain ? 'It is being sent again.' : advice),
        next: pendingNext(delivery, target, now),
      };
    }
    case 'parked':
      return {
        tone: 'waiting',
        sentence: history ?? 'This notification is on hold.',
        ...advised(waitReason(target) ?? advice ?? (isOpen(target) ? FAILING : undefined)),
        next: waitOf(delivery, target, now),
      };
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
        tone: isBad ? 'bad' : 'neutral',
        sentence: sentences[0] ?? 'This notification has ended.',
        ...(isBad && !isTold && advised(advice)),
        next: { text: sentences[1] ?? 'Nothing more is sent.' },
      };
    }
  }
}

/** A text for the customer in the words for an operator, who does not own the server. */
export const toldToOperator = (text: string): string =>
  text
    .replaceAll('Your s', 'The s')
    .replaceAll('your s', 'the s')
    .replaceAll('you resume it', 'it is resumed');

/** The same for an operator. */
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

/** The server's answer or failure: `answered 503`. */
export function outcomeOf({
  status,
  error,
  detail,
}: Pick<Attempt, 'status' | 'error' | 'detail'>): string {
  if (status !== undefined) return `answered ${status}`;
  const precise = detail && DETAILS[detail];
  if (precise !== undefined) return precise;
  return error ? ERRORS[error] : 'did not answer';
}

const WORDS = ['', '', 'twice', 'three times', 'four times', 'five times', 'six times'];

/** A time within the second counts: the texts have whole seconds, and the pace moves times by less than one. */
const isDue = (at: string, now: number): boolean => Date.parse(at) < now + 1_000;

type Next = Pick<Delivery, 'nextAttemptAt' | 'attempts'>;

function nextOf({ nextAttemptAt, attempts }: Next, now: number): { text: string; at?: string } {
  if (nextAttemptAt === undefined) return { text: 'An attempt is on its way.' };
  const text = attempts === 0 ? 'First try' : 'Next try';
  return isDue(nextAttemptAt, now) ? { text: `${text} is due now.` } : { text, at: nextAttemptAt };
}

const pacedText = (target: Target | undefined): string =>
  target?.health?.pacedBy === 'ordered'
    ? 'It waits for the one before it: the oldest that is pending.'
    : 'It waits for the pace of its subscription.';

/** Whether a delivery is due and may wait for others. */
const isPaced = ({ nextAttemptAt }: Next, target: Target | undefined, now: number): boolean =>
  target?.health?.pacedBy !== undefined && nextAttemptAt !== undefined && isDue(nextAttemptAt, now);

const FAILING = 'Its subscription is failing.';

/** Why a delivery is parked, unless its subscription is failing. */
function waitReason(target: Target | undefined): string | undefined {
  if (target?.paused) return 'Its subscription is paused.';
  if (!target || isOpen(target)) return undefined;
  return 'Your server asked for a break (429 or 503 with Retry-After).';
}

const HELD = {
  text: 'Our network reaches no target at the moment. It is sent as soon as that has ended, and no attempt is used up.',
};

/** What happens next with a pending delivery. */
function pendingNext(
  delivery: Next & Pick<Delivery, 'waitsFor'>,
  target: Target | undefined,
  now: number,
): { text: string; at?: string } {
  if (delivery.waitsFor === 'hold') return HELD;
  return isPaced(delivery, target, now) ? { text: pacedText(target) } : nextOf(delivery, now);
}

/** Until when a delivery is parked. */
function waitOf(
  { attempts, nextAttemptAt }: Next,
  target: Target | undefined,
  now: number,
): { text: string; at?: string } {
  if (target?.paused) return { text: 'It is sent when the subscription is resumed.' };
  // The delivery and the subscription were not read at the same time.
  const until = isOpen(target) ? target.health.until : undefined;
  const at = [nextAttemptAt, until]
    .filter((time) => time !== undefined)
    .sort()
    .at(-1);
  return at === undefined
    ? { text: 'It is sent when its subscription is ready.' }
    : nextOf({ attempts, nextAttemptAt: at }, now);
}

const isOpen = (
  target: Target | undefined,
): target is Target & { health: NonNullable<Target['health']> } => target?.health?.state === 'open';

const advised = (advice: string | undefined): { advice?: string } =>
  advice === undefined ? {} : { advice };

function adviceFor({ status, error, detail }: Attempt): string | undefined {
  if (error) return (detail && DETAIL_ADVICE[detail]) ?? ERROR_ADVICE[error];
  if (status === undefined || (status >= 200 && status < 300)) return undefined;
  if (status < 400) return 'Redirects are not followed: set the target address to the final one.';
  if (status === 401 || status === 403) {
    return 'Your server refused the caller: check its authentication, and how it verifies signatures.';
  }
  if (status === 404 || status === 405) return 'Check the path of the target address.';
  if (status === 410) return 'Check the target address: 410 says that it is gone for good.';
  if (status === 429 || status === 503) return undefined;
  return status < 500
    ? 'Check why your server refused this body.'
    : 'Check the logs of your server at the time of the attempt.';
}
