import type { Schemas } from '../../app/api.js';
import type { Tone } from '../../components/notice.js';

/** What is known of a subscription. */
export type Known = Pick<
  Schemas['Webhook'],
  'enabled' | 'paused' | 'health' | 'disabledReason' | 'disabledAt'
>;

/** Words, and the time that they lead up to. */
export interface Moment {
  text: string;
  at?: string;
}

/** One thing that is true of a subscription, in plain words. */
export interface Condition {
  tone: Tone;
  /** In a word, for lists. */
  word: string;
  sentence: string;
  /** Since when. */
  since?: Moment;
  /** What happens next, and when. */
  next: Moment;
  /** What happens if nothing changes. */
  warning?: Moment;
  /** What the customer can do. */
  advice?: string;
}

export type Conditions = readonly [Condition, ...Condition[]];

const OFF_NEXT = { text: 'Nothing is sent, and new events are not kept for it.' };
const ON_AGAIN =
  'switch the subscription on, and redeliver what was cancelled. Its health starts anew.';

const OFF: Record<NonNullable<Known['disabledReason']> | 'customer', Omit<Condition, 'since'>> = {
  gone: {
    tone: 'bad',
    word: 'switched off',
    sentence: 'Your server answered 410 Gone, so the service switched this subscription off.',
    next: OFF_NEXT,
    advice: `Once your server takes notifications again, ${ON_AGAIN}`,
  },
  failing: {
    tone: 'bad',
    word: 'switched off',
    sentence:
      'Every attempt had failed for five days, so the service switched this subscription off.',
    next: OFF_NEXT,
    advice: `Once your server works again, ${ON_AGAIN}`,
  },
  customer: {
    tone: 'neutral',
    word: 'off',
    sentence: 'This subscription is off.',
    next: OFF_NEXT,
    advice: 'Switch it on when you want notifications again. To keep events meanwhile, pause it.',
  },
};

const PAUSED: Condition = {
  tone: 'waiting',
  word: 'paused',
  sentence: 'This subscription is paused. New notifications are kept.',
  next: { text: 'They are sent when you resume it, oldest first. A test is sent all the same.' },
};

/**
 * Everything that holds for a subscription, the most important thing first. A pause, an open circuit and a
 * hold are independent of each other: until all have ended, only tests are sent.
 * @param heldUntil when the earliest of the deliveries that wait is sent, if no pause and no circuit is why
 * @param now ms
 */
export function conditionsOf(
  { enabled, paused, health, disabledReason, disabledAt }: Known,
  heldUntil: string | undefined,
  now: number,
): Conditions {
  if (!enabled) {
    const since = disabledAt === undefined ? {} : { since: { text: 'Since', at: disabledAt } };
    return [{ ...OFF[disabledReason ?? 'customer'], ...since }];
  }
  const isOpen = health?.state === 'open';
  const isWaiting = isOpen && isAhead(health.until, now);
  const all = [
    ...(paused ? [PAUSED] : []),
    ...(isOpen ? [openCircuit(health, isWaiting, paused)] : []),
    ...(!paused && !isWaiting && isAhead(heldUntil, now) ? [held(heldUntil)] : []),
    ...(health?.state === 'failing' ? [failing(health)] : []),
  ];
  const [first, ...others] = all;
  return first ? [first, ...others] : [WORKING];
}

const isAhead = (time: string | undefined, now: number): time is string =>
  time !== undefined && Date.parse(time) > now;

type Health = NonNullable<Known['health']>;

const since = ({ since: at }: Health) =>
  at === undefined ? {} : { since: { text: 'The first of them failed', at } };

function openCircuit(health: Health, isWaiting: boolean, paused = false): Condition {
  const { until, disablesAt } = health;
  return {
    tone: 'bad',
    word: 'circuit open',
    sentence:
      'At least ten attempts in a row have failed, so notifications are held back (the circuit is open). ' +
      'Nothing is lost, and what is held back uses up no attempts.',
    ...since(health),
    next: {
      text:
        `${paused ? 'Once it is resumed, the' : 'The'} next due notification finds out ` +
        `whether your server works again${isWaiting ? ', at the earliest' : '.'}`,
      ...(isWaiting && until !== undefined && { at: until }),
    },
    ...(disablesAt !== undefined && {
      warning: {
        text: 'If every attempt goes on failing, this subscription is switched off',
        at: disablesAt,
      },
    }),
    advice: 'Once your server works, send a test: its success closes the circuit at once.',
  };
}

function held(until: string): Condition {
  return {
    tone: 'waiting',
    word: 'on hold',
    sentence:
      'Your server asked for a break (429 or 503 with Retry-After), so notifications are held back.',
    next: { text: 'Sending goes on', at: until },
    advice: 'There is nothing to do. A test is sent all the same.',
  };
}

function failing(health: Health): Condition {
  return {
    tone: 'bad',
    word: 'failing',
    sentence: 'The last attempt failed, and so did every one since the last success.',
    ...since(health),
    next: {
      text:
        'Each notification is tried again on its schedule. After ten failures in a row, over at least ' +
        '30 seconds, notifications are held back, and your server is tried from time to time.',
    },
  };
}

const WORKING: Condition = {
  tone: 'good',
  word: 'healthy',
  sentence: 'All is well: the last attempt succeeded, or there was none yet.',
  next: { text: 'Notifications are sent as events come in.' },
};
