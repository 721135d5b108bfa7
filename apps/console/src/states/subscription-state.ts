import type { Schemas } from '../app/api.js';
import type { Tone } from '../components/notice.js';
import {
  type Block,
  heldUntil,
  type Moment,
  openBlock,
  PACED_BY,
  PAUSED,
  RETRIED,
} from './blocks.js';

/** The known properties of a subscription. */
export type Known = Pick<
  Schemas['Webhook'],
  'enabled' | 'paused' | 'health' | 'disabledReason' | 'disabledAt' | 'activity'
>;

/** What the user can do about a condition. */
export type Step = 'test' | 'resume' | 'enable' | 'send again' | 'see waiting';

/** One condition of a subscription, in plain words. */
export interface Condition {
  /** The word's colour: red needs attention, amber waits. */
  tone: Tone;
  /** One word, for lists. */
  word: string;
  /** The API's words for it, on hover. */
  api?: string;
  /** Whether it is failing or losing notifications, or the service has disabled it. */
  needsAttention: boolean;
  reason: string;
  /** Since when. */
  since?: Moment;
  /** What happens next, and when. */
  next: Moment;
  /** When the service disables it if nothing changes. Always in the future: {@link since} has the past. */
  disables?: Moment;
  step?: Step;
}

export type Conditions = readonly [Condition, ...Condition[]];

/**
 * All conditions of a subscription, the most important one first: what fails or loses notifications, then what holds
 * them back. A pause, an open circuit and a hold are independent: until all have ended, only tests are sent. A pace
 * delays notifications only while there is none of these.
 * @param held when the earliest waiting delivery is sent, unless a pause or a circuit delays it
 * @param now ms
 */
export function conditionsOf(known: Known, held: string | undefined, now: number): Conditions {
  const { enabled, paused, health, activity } = known;
  if (!enabled) return [disabled(known)];
  const isOpen = health?.state === 'open';
  const isWaiting = isOpen && isAhead(health.until, now);
  const all = [
    ...(isOpen ? [openCircuit(health, isWaiting, paused)] : []),
    ...(health?.lost === undefined ? [] : [losing(health, health.lost)]),
    ...(isFailing(health) ? [failing(health)] : []),
    ...(paused ? [waits('paused', PAUSED, 'paused: true', 'resume')] : []),
    ...(!paused && !isWaiting && isAhead(held, now) ? [waits('held', heldUntil(held))] : []),
    ...(health?.pacedBy === undefined ? [] : [paced(health.pacedBy)]),
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

const DISABLED: Record<NonNullable<Known['disabledReason']> | 'customer', string> = {
  gone: 'Your server answered 410 Gone, so the subscription was disabled.',
  failing: 'Every attempt failed for five days, so the subscription was disabled.',
  customer: 'The subscription is disabled.',
};

function disabled({ disabledReason, disabledAt }: Known): Condition {
  const isByService = disabledReason !== undefined;
  return {
    tone: isByService ? 'bad' : 'neutral',
    word: 'disabled',
    api: `enabled: false${isByService ? `, disabledReason: ${disabledReason}` : ''}`,
    needsAttention: isByService,
    reason: DISABLED[disabledReason ?? 'customer'],
    ...(disabledAt !== undefined && { since: { text: 'Disabled', at: disabledAt } }),
    next: { text: 'Nothing is sent, and new events are not kept for it.', brief: '–' },
    step: 'enable',
  };
}

/** Something that holds notifications back, and is no fault. */
function waits(word: string, block: Block, api?: string, step?: Step): Condition {
  return {
    ...block,
    ...{ tone: 'waiting', word, needsAttention: false },
    ...(api !== undefined && { api }),
    ...(step && { step }),
  };
}

const paced = (by: NonNullable<Health['pacedBy']>): Condition =>
  waits('paced', PACED_BY[by], `health.pacedBy: ${by}`, 'see waiting');

const firstFailure = ({ since: at }: Health) =>
  at === undefined ? {} : { since: { text: 'First failure', at } };

const FAILING = { tone: 'bad', word: 'failing', needsAttention: true, step: 'test' } as const;

function openCircuit(health: Health, isWaiting: boolean, paused = false): Condition {
  const { until, disablesAt } = health;
  const { reason, next } = openBlock(isWaiting ? until : undefined);
  return {
    ...FAILING,
    api: 'health.state: open',
    reason,
    ...firstFailure(health),
    next: paused ? PAUSED.next : next,
    ...(disablesAt !== undefined && { disables: { text: 'Will be disabled on', at: disablesAt } }),
  };
}

function failing(health: Health): Condition {
  return {
    ...FAILING,
    api: 'health.state: failing',
    reason: 'Every recent attempt has failed.',
    ...firstFailure(health),
    next: RETRIED,
  };
}

function losing({ lastLostAt }: Health, lost: number): Condition {
  const [were, stay, them] =
    lost === 1
      ? ['1 notification was', 'It stays', 'it']
      : [`${lost.toLocaleString('en')} notifications were`, 'They stay', 'them'];
  return {
    tone: 'bad',
    word: 'losing',
    api: `health.lost: ${lost}`,
    needsAttention: true,
    reason: `${were} lost in the last 24 hours.`,
    ...(lastLostAt !== undefined && { since: { text: 'Last one lost', at: lastLostAt } }),
    next: { text: `${stay} undelivered until you send ${them} again.`, brief: '–' },
    step: 'send again',
  };
}

const WORKING: Condition = {
  tone: 'good',
  word: 'healthy',
  needsAttention: false,
  reason: 'The last attempt succeeded, or there was none yet.',
  next: { text: 'Notifications are sent as events come in.', brief: 'with the next event' },
};

const UNTESTED: Condition = {
  ...WORKING,
  tone: 'neutral',
  word: 'untested',
  reason: 'No notification has succeeded yet.',
  next: { text: 'Send a test to see whether your server accepts it.', brief: 'with a test' },
  step: 'test',
};
