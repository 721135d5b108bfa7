import { describe, expect, it } from 'vitest';
import type { Schemas } from '../app/api.js';
import { stateWord } from './delivery-state.js';
import { verdictOf } from './delivery-verdict.js';
import { conditionsOf, type Known } from './subscription-state.js';

const NOW = Date.parse('2026-11-25T14:00:00.000Z');
const SINCE = '2026-11-25T13:00:00.000Z';
const LATER = '2026-11-25T14:02:00.000Z';
const DISABLES = '2026-11-30T13:00:00.000Z';

const on = (health?: Known['health'], fields: Partial<Known> = {}): Known => ({
  enabled: true,
  ...(health && { health }),
  ...fields,
});
const open = { state: 'open', since: SINCE, until: LATER, disablesAt: DISABLES } as const;
const lost = { lost: 1_200, lastLostAt: SINCE };
const activity = { succeeded: 0, failed: 0 };
const off = { enabled: false, disabledAt: SINCE };

const WORKS = 'The last attempt succeeded, or there was none yet.';
const OPEN = 'Your server keeps failing, so notifications wait until it works again.';
const PAUSED = 'The subscription is paused.';
const RESUMED = 'Sending resumes, oldest first, when you resume it.';
const BREAK = 'Your server asked for a break (429 or 503 with Retry-After).';
const PROBE = 'The next due notification is sent as a probe.';
const KEPT = 'Nothing is sent, and new events are not kept for it.';

interface Row<Of> {
  of: Of;
  /** The colour, and the word. */
  is: string;
  /** Why. */
  why?: string;
  next?: string;
}

describe('the sentences of a subscription', () => {
  it.each<Row<Known> & { held?: string; step?: string }>([
    { of: on(), is: 'good healthy', why: WORKS, next: 'Notifications are sent as events come in.' },
    {
      of: on(undefined, { activity }),
      is: 'neutral untested',
      why: 'No notification has succeeded yet.',
      next: 'Send a test to see whether your server accepts it.',
      step: 'test',
    },
    { of: on(open), is: 'bad failing', why: OPEN, next: `Next try ${LATER}`, step: 'test' },
    {
      of: on({ state: 'open', until: SINCE }),
      ...{ is: 'bad failing', why: OPEN, next: PROBE, step: 'test' },
    },
    {
      of: on(open, { paused: true }),
      ...{ is: 'bad failing', why: OPEN, next: RESUMED, step: 'test' },
    },
    {
      of: on({ state: 'failing', since: SINCE }),
      held: LATER,
      is: 'bad failing',
      why: 'Every recent attempt has failed.',
      next: 'Each notification is retried on its schedule.',
      step: 'test',
    },
    {
      of: on({ state: 'losing', ...lost }),
      is: 'bad losing',
      why: '1,200 notifications were lost in the last 24 hours.',
      next: 'They stay undelivered until you send them again.',
      step: 'send again',
    },
    {
      of: on({ state: 'losing', ...lost, lost: 1 }, { paused: true }),
      is: 'bad losing',
      why: '1 notification was lost in the last 24 hours.',
      next: 'It stays undelivered until you send it again.',
      step: 'send again',
    },
    {
      of: on(undefined, { paused: true }),
      held: LATER,
      ...{ is: 'waiting paused', why: PAUSED, next: RESUMED, step: 'resume' },
    },
    { of: on(), held: LATER, is: 'waiting held', why: BREAK, next: `Sending resumes ${LATER}` },
    {
      of: on({ state: 'ok', pacedBy: 'maxPerSecond' }),
      is: 'waiting paced',
      why: 'More notifications are due than the subscription allows per second.',
      next: 'The others follow at its pace.',
      step: 'see waiting',
    },
    {
      of: { ...off, disabledReason: 'gone' },
      is: 'bad disabled',
      why: 'Your server answered 410 Gone, so the subscription was disabled.',
      ...{ next: KEPT, step: 'enable' },
    },
    {
      of: { ...off, disabledReason: 'failing' },
      is: 'bad disabled',
      why: 'Every attempt failed for five days, so the subscription was disabled.',
      ...{ next: KEPT, step: 'enable' },
    },
    {
      of: { enabled: false, paused: true },
      is: 'neutral disabled',
      why: 'The subscription is disabled.',
      ...{ next: KEPT, step: 'enable' },
    },
  ])('$is: $why $next', ({ of, held, is, why, next, step }) => {
    const [first] = conditionsOf(of, held, NOW);
    expect([`${first.tone} ${first.word}`, first.reason]).toEqual([is, why]);
    expect([first.next.text, first.next.at].join(' ').trim()).toBe(next);
    expect(first.step).toBe(step);
    expect(first.needsAttention).toBe(first.tone === 'bad');
  });

  it('have either the time when it is disabled, or since when it is', () => {
    const [failing] = conditionsOf(on(open), undefined, NOW);
    expect([failing.disables?.at, failing.since?.text]).toEqual([DISABLES, 'First failure']);
    const [disabled] = conditionsOf({ ...off, disabledReason: 'gone' }, undefined, NOW);
    expect([disabled.disables, disabled.since?.text]).toEqual([undefined, 'Disabled']);
  });

  it('say in tables what comes next if there is no time', () => {
    const all = [
      ...[on(), on(undefined, { activity }), on({ state: 'open' }), on({ state: 'failing' })],
      ...[on(undefined, { paused: true }), on({ state: 'losing', lost: 1 }), off],
      ...(['maxPerSecond', 'maxConcurrent', 'ordered'] as const).map((pacedBy) =>
        on({ state: 'ok', pacedBy }),
      ),
    ];
    for (const known of all) expect(conditionsOf(known, undefined, NOW)[0].next.brief).toBeTruthy();
  });
});

type Delivery = Pick<Schemas['Delivery'], 'state' | 'attempts'> &
  Partial<Pick<Schemas['Delivery'], 'nextAttemptAt' | 'waitsFor' | 'reason'>>;

describe('the sentences of a delivery', () => {
  const waits = { attempts: 1, nextAttemptAt: LATER };
  it.each<Row<Delivery> & { target?: Known }>([
    {
      of: { ...waits, state: 'pending', attempts: 0 },
      is: 'waiting waiting',
      next: `First try ${LATER}`,
    },
    {
      of: { state: 'pending', attempts: 0 },
      is: 'waiting sending',
      next: 'An attempt is on its way.',
    },
    { of: { ...waits, state: 'pending' }, is: 'waiting retrying', next: `Next try ${LATER}` },
    {
      of: { ...waits, state: 'pending', waitsFor: 'hold' },
      is: 'waiting retrying',
      why: 'Our network reaches no target at the moment.',
      next: 'Sending resumes as soon as that has ended, and no attempt is used up.',
    },
    {
      of: { state: 'parked', attempts: 1 },
      target: on(undefined, { paused: true }),
      ...{ is: 'waiting paused', why: PAUSED, next: RESUMED },
    },
    {
      of: { ...waits, state: 'parked' },
      target: on(open),
      ...{ is: 'waiting held', why: OPEN, next: `Next try ${LATER}` },
    },
    {
      of: { ...waits, state: 'parked' },
      target: on(),
      ...{ is: 'waiting held', why: BREAK, next: `Sending resumes ${LATER}` },
    },
    {
      of: { state: 'exhausted', attempts: 0, reason: 'expired' },
      ...{ is: 'bad failed', next: 'Nothing more is sent.' },
    },
    {
      of: { state: 'cancelled', attempts: 0, reason: 'requested' },
      ...{ is: 'neutral cancelled', next: 'Nothing more is sent.' },
    },
    { of: { state: 'succeeded', attempts: 1 }, is: 'good delivered' },
  ])('$is: $why $next', ({ of, target = on(), is, why, next = '' }) => {
    const told = verdictOf(of, [], target, NOW);
    expect([`${told.tone} ${stateWord(of)}`, told.advice]).toEqual([is, why]);
    expect([told.next?.text, told.next?.at].join(' ').trim()).toBe(next);
  });
});

it.each<[string, Known, string | undefined, Delivery]>([
  ['a pause', on(undefined, { paused: true }), undefined, { state: 'parked', attempts: 0 }],
  ['an open circuit', on(open), undefined, { state: 'parked', attempts: 0, nextAttemptAt: LATER }],
  [
    'a circuit whose probe is due',
    on({ state: 'open', until: SINCE }),
    undefined,
    { state: 'parked', attempts: 0, nextAttemptAt: SINCE },
  ],
  ['a hold', on(), LATER, { state: 'parked', attempts: 0, nextAttemptAt: LATER }],
  [
    'a pace',
    on({ state: 'ok', pacedBy: 'ordered' }),
    undefined,
    { state: 'pending', attempts: 0, nextAttemptAt: SINCE },
  ],
])('%s has the same sentences for a subscription and its deliveries', (_what, known, held, one) => {
  const [{ reason, next }] = conditionsOf(known, held, NOW);
  const told = verdictOf(one, [], known, NOW);
  expect([told.advice, told.next]).toEqual([reason, next]);
});
