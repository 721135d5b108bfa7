import type { Schemas } from '../../app/api.js';
import type { Tone } from '../../components/notice.js';

/** The known properties of a subscription. */
export type Known = Pick<
  Schemas['Webhook'],
  'enabled' | 'paused' | 'health' | 'disabledReason' | 'disabledAt' | 'activity'
>;

/** A text, and the time that follows it. */
export interface Moment {
  text: string;
  at?: string;
}

/** One condition of a subscription, in plain words. */
export interface Condition {
  /** Of the word. */
  tone: Tone;
  /** One word, for lists. */
  word: string;
  /** Whether it is failing or losing notifications, or the service has switched it off. */
  needsAttention: boolean;
  sentence: string;
  /** Since when. */
  since?: Moment;
  /** What happens next, and when. */
  next: Moment;
  /** What happens if nothing changes. */
  warning?: Moment;
}

export type Conditions = readonly [Condition, ...Condition[]];

const OFF = {
  tone: 'neutral',
  word: 'off',
  next: { text: 'Nothing is sent, and new events are not kept for it.' },
} as const;

const OFF_FOR: Record<NonNullable<Known['disabledReason']> | 'customer', Condition> = {
  gone: {
    ...OFF,
    needsAttention: true,
    sentence: 'Your server answered 410 Gone, so this subscription was switched off.',
  },
  failing: {
    ...OFF,
    needsAttention: true,
    sentence: 'Every attempt failed for five days, so this subscription was switched off.',
  },
  customer: { ...OFF, needsAttention: false, sentence: 'This subscription is off.' },
};

const PAUSED: Condition = {
  tone: 'waiting',
  word: 'paused',
  needsAttention: false,
  sentence: 'This subscription is paused.',
  next: { text: 'New notifications are kept, and sent oldest first when you resume it.' },
};

/**
 * All conditions of a subscription, the most important one first. A pause, an open circuit and a hold are independent:
 * until all have ended, only tests are sent. A pace delays
 * notifications only while there is none of these.
 * @param heldUntil when the earliest waiting delivery is sent, unless a pause or a circuit delays it
 * @param now ms
 */
export function conditionsOf(
  { enabled, paused, health, disabledReason, disabledAt, activity }: Known,
  heldUntil: string | undefined,
  now: number,
): Conditions {
  if (!enabled) {
    const since =
      disabledAt === undefined ? {} : { since: { text: 'Switched off', at: disabledAt } };
    return [{ ...OFF_FOR[disabledReason ?? 'customer'], ...since }];
  }
  const isOpen = health?.state === 'open';
  const isWaiting = isOpen && isAhead(health.until, now);
  const all = [
    ...(paused ? [PAUSED] : []),
    ...(isOpen ? [openCircuit(health, isWaiting, paused)] : []),
    ...(!paused && !isWaiting && isAhead(heldUntil, now) ? [held(heldUntil)] : []),
    ...(health?.lost === undefined ? [] : [losing(health, health.lost)]),
    ...(isFailing(health) ? [failing(health)] : []),
    ...(health?.pacedBy === undefined ? [] : [PACED_BY[health.pacedBy]]),
  ];
  const [first, ...others] = all;
  if (first) return [first, ...others];
  return [activity && activity.lastSuccessAt === undefined ? UNTESTED : WORKING];
}

const isAhead = (time: string | undefined, now: number): time is string =>
  time !== undefined && Date.parse(time) > now;

type Health = NonNullable<Known['health']>;

/** Whether every attempt since `since` has failed. */
const isFailing = (health: Known['health']): health is Health =>
  health?.state === 'failing' || (health?.state === 'losing' && health.since !== undefined);

const since = ({ since: at }: Health) =>
  at === undefined ? {} : { since: { text: 'First failure', at } };

function openCircuit(health: Health, isWaiting: boolean, paused = false): Condition {
  const { until, disablesAt } = health;
  return {
    tone: 'bad',
    word: 'failing',
    needsAttention: true,
    sentence: 'Your server keeps failing, so notifications are held back until it works again.',
    ...since(health),
    next: nextTry(isWaiting ? until : undefined, paused),
    ...(disablesAt !== undefined && { warning: { text: 'Off on', at: disablesAt } }),
  };
}

function nextTry(at: string | undefined, paused: boolean): Moment {
  if (paused) return { text: 'Next try after you resume it' };
  return at === undefined
    ? { text: 'Next try with the next notification' }
    : { text: 'Next try', at };
}

function held(until: string): Condition {
  return {
    tone: 'waiting',
    word: 'held',
    needsAttention: false,
    sentence: 'Your server asked for a break, with a 429 or 503 and Retry-After.',
    next: { text: 'Sending resumes', at: until },
  };
}

function failing(health: Health): Condition {
  return {
    tone: 'bad',
    word: 'failing',
    needsAttention: true,
    sentence: 'Every attempt since the last success has failed.',
    ...since(health),
    next: { text: 'Each notification is retried on its schedule' },
  };
}

function losing({ lastLostAt }: Health, lost: number): Condition {
  const count = lost.toLocaleString('en');
  return {
    tone: 'bad',
    word: 'losing',
    needsAttention: true,
    sentence:
      lost === 1
        ? '1 notification of the last 24 hours was lost: it had no attempts left, or was cancelled.'
        : `${count} notifications of the last 24 hours were lost: they had no attempts left, or were cancelled.`,
    ...(lastLostAt !== undefined && { since: { text: 'Last one lost', at: lastLostAt } }),
    next: { text: 'Nothing sends them again unless you do' },
  };
}

const PACED = { tone: 'waiting', word: 'paced', needsAttention: false } as const;

const PACED_BY: Record<NonNullable<Health['pacedBy']>, Condition> = {
  maxPerSecond: {
    ...PACED,
    sentence: 'More notifications are due than this subscription allows in a second.',
    next: { text: 'The others are sent at its pace.' },
  },
  maxConcurrent: {
    ...PACED,
    sentence: 'As many calls are in flight as this subscription allows at once.',
    next: { text: 'The next notification is sent when one of them ends.' },
  },
  ordered: {
    ...PACED,
    sentence: 'Notifications are sent in order, and wait for the one before them.',
    next: { text: 'The next one is sent when that one has succeeded or has no retries left.' },
  },
};

const WORKING: Condition = {
  tone: 'good',
  word: 'healthy',
  needsAttention: false,
  sentence: 'The last attempt succeeded, or there was none yet.',
  next: { text: 'Notifications are sent as events come in.' },
};

const UNTESTED: Condition = {
  ...WORKING,
  tone: 'neutral',
  word: 'untested',
  sentence: 'No notification has succeeded yet.',
  next: { text: 'A test finds out whether your server takes them.' },
};
