import { describe, expect, it } from 'vitest';
import { judge } from './checker.js';
import type {
  Accepted,
  Action,
  Attempt,
  Call,
  Delivery,
  Harm,
  History,
  Subscription,
} from './history.js';

const START = Date.UTC(2026, 0, 1);
/** The start of all histories. Their times are offsets from it, in ms. */
const at = (ms: number): number => START + ms;
const SCHEDULE = [1_000, 2_000];
const expected = { schedule: SCHEDULE, latestMs: 20_000 };

type Details = Partial<Attempt> & { call?: Partial<Call> };

interface Sent {
  call: Call;
  attempt: Attempt;
}

/** One attempt: leased at `ms`, it arrived 5 ms later and was answered 5 ms after that. */
function sent(number: number, ms: number, { call, ...attempt }: Details = {}): Sent {
  const { status = 500, worker = '1' } = attempt;
  return {
    call: {
      delivery: 'd',
      target: '/t',
      worker,
      at: at(ms + 5),
      signedAt: Math.floor(at(ms) / 1_000) * 1_000,
      reused: false,
      answer: status,
      writtenAt: at(ms + 10),
      endedAt: at(ms + 10),
      ...call,
    },
    attempt: {
      delivery: 'd',
      take: number,
      number,
      at: at(ms),
      durationMs: 12,
      status,
      worker,
      ...attempt,
    },
  };
}

const succeeded = (number: number, ms: number, more?: Details): Sent =>
  sent(number, ms, { status: 200, ...more });

function action(kind: 'pause' | 'resume' | 'off' | 'on', from: number, to: number): Action {
  return { kind, subscription: 's', from: at(from), to: at(to) };
}

const onDelivery = (kind: 'cancel' | 'redeliver' | 'send', from: number, to: number): Action => ({
  kind,
  delivery: 'd',
  from: at(from),
  to: at(to),
});

const harm = (kind: Harm['kind'], from: number, to: number, worker?: string): Harm => ({
  kind,
  from: at(from),
  to: at(to),
  ...(worker !== undefined && { worker }),
});

interface Told {
  sent?: Sent[];
  /** Unrecorded calls. */
  unrecorded?: Sent[];
  /** Attempts that never arrived. */
  unsent?: Sent[];
  delivery?: Partial<Delivery>;
  deliveries?: Delivery[];
  actions?: Action[];
  harms?: Harm[];
  accepted?: Accepted[];
  feeds?: string[][];
}

const FOLLOWERS = [0, 1];

/** The history of one delivery, by default a successful one. */
function historyOf(told: Told): History {
  const { sent: whole = [], unrecorded = [], unsent = [], actions = [], harms = [] } = told;
  const { accepted = [{ eventId: 'e', from: at(-20), to: at(0) }] } = told;
  const attempts = [...whole, ...unsent].map(({ attempt }) => attempt);
  const delivery: Delivery = {
    id: 'd',
    eventId: 'e',
    subscription: 's',
    createdAt: at(-10),
    state: 'succeeded',
    attempts: Math.max(0, ...attempts.map(({ number }) => number)),
    scheduleBase: 0,
    extraAttempts: 0,
    ...told.delivery,
  };
  return {
    subscriptions: [{ id: 's', target: '/t' }],
    accepted,
    feeds: told.feeds ?? FOLLOWERS.map(() => accepted.map(({ eventId }) => eventId)),
    calls: [...whole, ...unrecorded].map(({ call }) => call),
    deliveries: told.deliveries ?? [delivery],
    attempts,
    actions,
    harms,
    endedAt: at(60_000),
  };
}

const rulesOf = (told: Told): string[] => [
  ...new Set(judge(historyOf(told), expected).violations.map(({ rule }) => rule)),
];

const EXHAUSTED = { state: 'exhausted', reason: 'no_attempts_left' };
const CANCELLED = { state: 'cancelled', reason: 'requested' };
const GONE_WORKER = harm('killed', 1_000, 1_100, '1');

const NO_ANSWER = { status: undefined, error: 'reset' } as unknown as Partial<Attempt>;
const UNANSWERED = { answer: undefined, writtenAt: undefined } as unknown as Partial<Call>;
const BROKEN_OFF = { answer: 200, writtenAt: undefined } as unknown as Partial<Call>;
const NEW_TARGET = { kind: 'target', subscription: 's', target: '/new' } as const;
const replay = (states: string[], from: number, to: number): Action => ({
  kind: 'replay',
  subscription: 's',
  states,
  from: at(from),
  to: at(to),
});
const aDelivery = (id: string, attempts: number): Delivery => ({
  id,
  eventId: 'e',
  subscription: 's',
  createdAt: at(-10),
  state: attempts === 0 ? 'exhausted' : 'succeeded',
  attempts,
  scheduleBase: 0,
  extraAttempts: 0,
});

describe('a valid history', () => {
  const fine: [string, Told][] = [
    ['a success at once', { sent: [succeeded(1, 0)] }],
    ['a success at the second retry', { sent: [sent(1, 0), sent(2, 900), succeeded(3, 3_000)] }],
    [
      'the last retry failed',
      { sent: [sent(1, 0), sent(2, 900), sent(3, 3_000)], delivery: EXHAUSTED },
    ],
    [
      'an attempt that got no answer and never arrived',
      { unsent: [sent(1, 1_000, NO_ANSWER)], sent: [succeeded(2, 1_900)] },
    ],
    [
      'a worker was killed before it recorded the outcome',
      {
        unrecorded: [succeeded(1, 980)],
        sent: [succeeded(1, 18_000, { worker: '2' })],
        harms: [GONE_WORKER],
      },
    ],
    [
      'PostgreSQL was away when the outcome was to be recorded',
      {
        unrecorded: [succeeded(1, 980)],
        sent: [succeeded(1, 4_000)],
        harms: [harm('cut off', 1_000, 3_000)],
      },
    ],
    [
      'a worker was frozen and recorded its success after another worker had sent the delivery',
      {
        sent: [
          succeeded(1, 500, { durationMs: 20_000, take: 1 }),
          succeeded(1, 18_000, { take: 2, worker: '2' }),
        ],
        harms: [harm('frozen', 505, 20_500, '1')],
      },
    ],
    [
      'a worker was frozen between lease and call, while another worker sent the delivery',
      {
        sent: [
          succeeded(1, 500, {
            take: 1,
            durationMs: 20_000,
            call: { at: at(20_510), endedAt: at(20_520) },
          }),
          succeeded(1, 18_000, { take: 2, worker: '2' }),
        ],
        harms: [harm('frozen', 502, 20_500, '1')],
      },
    ],
    [
      'the worker gave up while the answer arrived',
      {
        sent: [
          sent(1, 0, {
            ...NO_ANSWER,
            durationMs: 3_000,
            call: { answer: 200, writtenAt: at(2_990), endedAt: at(2_990) },
          }),
          succeeded(2, 4_000),
        ],
      },
    ],
    [
      'an answer that broke off',
      { sent: [sent(1, 0, { ...NO_ANSWER, call: BROKEN_OFF }), succeeded(2, 900)] },
    ],
    [
      'a reused connection that ended before an answer, and a repeat in the same attempt, long after its lease',
      {
        sent: [
          succeeded(1, 0, {
            durationMs: 30,
            call: { at: at(905), writtenAt: at(910), endedAt: at(910) },
          }),
        ],
        unrecorded: [
          sent(1, 0, { call: { ...UNANSWERED, at: at(900), endedAt: at(901), reused: true } }),
        ],
      },
    ],
    [
      'in flight while it was cancelled',
      {
        sent: [sent(1, 0, { call: { at: at(900), endedAt: at(910) }, durationMs: 920 })],
        delivery: CANCELLED,
        actions: [onDelivery('cancel', 5, 10)],
      },
    ],
    [
      'cancelled in flight, but succeeded',
      { sent: [succeeded(1, 0)], actions: [onDelivery('cancel', 6, 8)] },
    ],
    [
      'cancelled while its worker was frozen, and sent by that worker afterwards',
      {
        sent: [
          sent(1, 500, {
            durationMs: 20_020,
            call: { at: at(20_510), writtenAt: at(20_515), endedAt: at(20_515) },
          }),
        ],
        delivery: CANCELLED,
        actions: [onDelivery('cancel', 600, 610)],
        harms: [harm('frozen', 505, 20_500, '1')],
      },
    ],
    [
      'accepted while its subscription was being switched off and on at the same time',
      {
        sent: [sent(1, 0), succeeded(2, 1_100)],
        actions: [action('off', -50, 5), action('on', -45, 10)],
      },
    ],
    [
      'a cancellation without an answer',
      { sent: [sent(1, 0), succeeded(2, 1_100)], actions: [onDelivery('cancel', 20, Infinity)] },
    ],
    [
      'cancelled, then redelivered',
      {
        sent: [sent(1, 0), succeeded(2, 2_020)],
        delivery: { scheduleBase: 1 },
        actions: [onDelivery('cancel', 20, 30), onDelivery('redeliver', 2_000, 2_010)],
      },
    ],
    [
      'redelivered after a success',
      {
        sent: [succeeded(1, 0), succeeded(2, 60)],
        delivery: { scheduleBase: 1 },
        actions: [onDelivery('redeliver', 50, 70)],
      },
    ],
    [
      'a redelivery that was cancelled before it was sent',
      {
        sent: [succeeded(1, 0)],
        delivery: { ...CANCELLED, scheduleBase: 1 },
        actions: [onDelivery('redeliver', 1_000, 1_010), onDelivery('cancel', 1_020, 1_030)],
      },
    ],
    [
      'a schedule that restarts after a redelivery',
      {
        sent: [succeeded(1, 0), sent(2, 60), sent(3, 1_000), sent(4, 3_200)],
        delivery: { ...EXHAUSTED, scheduleBase: 1 },
        actions: [onDelivery('redeliver', 50, 70)],
      },
    ],
    [
      'sent at once while its subscription was paused, with the schedule kept',
      {
        sent: [sent(1, 0), sent(2, 510), sent(3, 1_000), sent(4, 3_000)],
        delivery: { ...EXHAUSTED, extraAttempts: 1 },
        actions: [action('pause', 100, 110), onDelivery('send', 500, 508)],
      },
    ],
    [
      'sent at once after a success, like a redelivery',
      {
        sent: [succeeded(1, 0), succeeded(2, 60)],
        delivery: { scheduleBase: 1 },
        actions: [onDelivery('send', 50, 70)],
      },
    ],
    [
      'replayed after a success',
      {
        sent: [succeeded(1, 0), succeeded(2, 5_000)],
        delivery: { scheduleBase: 1 },
        actions: [replay(['succeeded'], 100, 9_000)],
      },
    ],
    ['leased just before a pause', { sent: [succeeded(1, 0)], actions: [action('pause', -5, 2)] }],
    [
      'leased while its subscription was being resumed',
      {
        sent: [succeeded(1, 10_005)],
        actions: [action('pause', -60, -50), action('resume', 10_000, 10_010)],
      },
    ],
    [
      'a pause and a resume at the same time',
      { sent: [succeeded(1, 100)], actions: [action('pause', 0, 50), action('resume', 40, 60)] },
    ],
    [
      'a retry that waited for the end of a pause',
      {
        sent: [sent(1, 0), succeeded(2, 30_000)],
        actions: [action('pause', 100, 120), action('resume', 29_900, 29_950)],
      },
    ],
    [
      'a retry that waited for Retry-After',
      {
        sent: [sent(1, 0, { status: 429, retryAfterMs: 9_000 }), succeeded(2, 9_100)],
      },
    ],
    [
      'in flight while its subscription was switched off',
      {
        sent: [sent(1, 0)],
        delivery: { ...CANCELLED, reason: 'disabled' },
        actions: [action('off', 1, 20)],
      },
    ],
    [
      'accepted while its subscription was being switched off',
      { deliveries: [], actions: [action('off', -10, 5)] },
    ],
    [
      'accepted while its subscription was off',
      { deliveries: [], actions: [action('off', -60, -50)] },
    ],
    [
      'accepted after its subscription was on again',
      { sent: [succeeded(1, 0)], actions: [action('off', -90, -80), action('on', -60, -50)] },
    ],
    [
      'a target that switched its subscription off',
      {
        sent: [sent(1, 0, { status: 410 })],
        delivery: { state: 'exhausted', reason: 'gone' },
      },
    ],
    [
      'sent to the old target while the target was being changed',
      { sent: [succeeded(1, 0)], actions: [{ ...NEW_TARGET, from: at(-5), to: at(2) }] },
    ],
    [
      'unknown to a restored PostgreSQL',
      {
        deliveries: [],
        accepted: [],
        unrecorded: [succeeded(1, 0)],
        harms: [harm('cut off', -5, 9)],
      },
    ],
  ];

  it.each(fine)('%s', (_, told) => {
    expect(judge(historyOf(told), expected).violations).toEqual([]);
  });
});

describe('an invalid history', () => {
  const wrong: [string, string[], Told][] = [
    ['delivery missing', ['delivery missing'], { deliveries: [] }],
    [
      'a delivery created while its subscription was off',
      ['extra delivery'],
      {
        sent: [succeeded(1, 0)],
        actions: [action('off', -90, -80)],
        delivery: { createdAt: at(-200) },
      },
    ],
    [
      'two deliveries of one event',
      ['extra delivery'],
      { sent: [succeeded(1, 0)], deliveries: [aDelivery('d', 1), aDelivery('other', 0)] },
    ],
    ['pending at the end', ['not finished'], { delivery: { state: 'pending' } }],
    [
      'leased at the end',
      ['not finished'],
      { sent: [succeeded(1, 0)], delivery: { leasedUntil: at(61_000) } },
    ],
    [
      'a call that is not recorded',
      ['call not recorded'],
      { sent: [sent(1, 0), succeeded(2, 1_100)], unrecorded: [sent(1, 500)] },
    ],
    [
      'a call that is not recorded, by a worker that was not killed',
      ['call not recorded'],
      {
        unrecorded: [succeeded(1, 980, { worker: '2' })],
        sent: [succeeded(1, 18_000, { worker: '2' })],
        harms: [GONE_WORKER],
      },
    ],
    [
      'a call that is not recorded, long before its worker was killed',
      ['call not recorded'],
      {
        unrecorded: [succeeded(1, -5_000)],
        sent: [succeeded(1, 0, { worker: '2' })],
        harms: [GONE_WORKER],
      },
    ],
    [
      'a call that is not recorded, after an attempt that never arrived',
      ['call not recorded'],
      {
        unsent: [sent(1, 0, NO_ANSWER)],
        unrecorded: [sent(2, 1_100)],
        sent: [succeeded(2, 2_100)],
      },
    ],
    ['a recorded answer without a call', ['attempt without a call'], { unsent: [succeeded(1, 0)] }],
    [
      'a recorded answer that differs from the real one',
      ['wrong outcome recorded'],
      { sent: [sent(1, 0, { call: { answer: 200 } }), succeeded(2, 900)] },
    ],
    [
      'an answer that came in time and is not recorded',
      ['wrong outcome recorded'],
      {
        sent: [
          sent(1, 0, { ...NO_ANSWER, durationMs: 3_000, call: { answer: 200 } }),
          succeeded(2, 4_000),
        ],
      },
    ],
    [
      'a success and another attempt',
      ['sent after a success'],
      { sent: [succeeded(1, 0), succeeded(2, 1_100)] },
    ],
    [
      'a recorded success of a killed worker and another attempt',
      ['sent after a success'],
      { sent: [succeeded(1, 980), succeeded(2, 2_100, { worker: '2' })], harms: [GONE_WORKER] },
    ],
    [
      'a success and another attempt by a replay of exhausted deliveries only',
      ['sent after a success'],
      {
        sent: [succeeded(1, 0), succeeded(2, 1_100)],
        delivery: { scheduleBase: 1 },
        actions: [replay(['exhausted'], 100, 2_000)],
      },
    ],
    [
      'a success and another attempt before a redelivery was requested',
      ['sent after a success'],
      {
        sent: [succeeded(1, 0), succeeded(2, 1_100), succeeded(3, 5_100)],
        delivery: { scheduleBase: 2 },
        actions: [onDelivery('redeliver', 5_000, 5_010)],
      },
    ],
    [
      'sent after it was cancelled',
      ['sent after it was cancelled'],
      {
        sent: [sent(1, 0), sent(2, 1_100)],
        delivery: CANCELLED,
        actions: [onDelivery('cancel', 20, 30)],
      },
    ],
    [
      'sent after its subscription was switched off, and on again',
      ['sent after it was cancelled'],
      {
        sent: [sent(1, 0), succeeded(2, 1_100)],
        actions: [action('off', 20, 30), action('on', 40, 50)],
      },
    ],
    [
      'sent during a pause',
      ['sent during a pause'],
      {
        sent: [sent(1, 0), succeeded(2, 1_100)],
        actions: [action('pause', 20, 30), action('resume', 1_200, 1_210)],
      },
    ],
    [
      'sent during a pause before it was to be sent at once',
      ['sent during a pause'],
      {
        sent: [sent(1, 0), succeeded(2, 1_100)],
        actions: [action('pause', 20, 30), onDelivery('send', 1_200, 1_210)],
      },
    ],
    [
      'leased before a pause, and sent much later',
      ['sent during a pause'],
      {
        sent: [succeeded(1, 0, { durationMs: 4_000, call: { at: at(3_900), endedAt: at(3_910) } })],
        actions: [action('pause', 20, 30)],
      },
    ],
    [
      'sent to a former target',
      ['sent to the wrong target'],
      { sent: [succeeded(1, 0)], actions: [{ ...NEW_TARGET, from: at(-50), to: at(-40) }] },
    ],
    [
      'two calls at once',
      ['call not recorded', 'two calls at once'],
      {
        sent: [
          succeeded(1, 0, { durationMs: 900, call: { endedAt: at(890), writtenAt: at(890) } }),
        ],
        unrecorded: [succeeded(1, 300)],
      },
    ],
    [
      'a number used twice',
      ['number used twice'],
      {
        sent: [
          sent(1, 0, { take: 1 }),
          sent(1, 1_200, { take: 2 }),
          succeeded(2, 2_200, { take: 3 }),
        ],
      },
    ],
    ['a missing number', ['number missing'], { sent: [sent(1, 0), succeeded(3, 1_100)] }],
    [
      'a wrong count of attempts',
      ['attempts miscounted'],
      { sent: [sent(1, 0), succeeded(2, 1_100)], delivery: { attempts: 1 } },
    ],
    ['a retry that is too early', ['sent too early'], { sent: [sent(1, 0), succeeded(2, 700)] }],
    [
      'a retry before Retry-After has passed',
      ['sent too early'],
      { sent: [sent(1, 0, { status: 503, retryAfterMs: 9_000 }), succeeded(2, 1_100)] },
    ],
    ['a retry that is too late', ['sent too late'], { sent: [sent(1, 0), succeeded(2, 21_500)] }],
    ['a first attempt that is too late', ['sent too late'], { sent: [succeeded(1, 20_500)] }],
    [
      'a retry beyond the schedule',
      ['sent after the last retry'],
      { sent: [sent(1, 0), sent(2, 900), sent(3, 3_000), succeeded(4, 9_000)] },
    ],
    [
      'an exhausted delivery with a retry left',
      ['retries skipped'],
      { sent: [sent(1, 0), sent(2, 900)], delivery: EXHAUSTED },
    ],
    [
      'exhausted by an attempt outside the schedule',
      ['retries skipped'],
      {
        sent: [sent(1, 0), sent(2, 510), sent(3, 1_000)],
        delivery: { ...EXHAUSTED, extraAttempts: 1 },
        actions: [onDelivery('send', 500, 508)],
      },
    ],
    [
      'restarted, but exhausted by the earlier schedule',
      ['retries skipped'],
      {
        sent: [sent(1, 0), sent(2, 900), sent(3, 3_000, { durationMs: 500 })],
        delivery: { ...EXHAUSTED, scheduleBase: 2 },
        actions: [onDelivery('cancel', 3_050, 3_060), replay(['cancelled'], 3_100, 3_200)],
      },
    ],
    [
      'a success that was overwritten',
      ['success overwritten'],
      { sent: [succeeded(1, 0)], delivery: { state: 'exhausted', reason: 'expired' } },
    ],
    ['a success that no attempt shows', ['success without an attempt'], { sent: [sent(1, 0)] }],
    [
      'cancelled without a request',
      ['cancelled without a request'],
      { sent: [sent(1, 0)], delivery: CANCELLED },
    ],
    [
      'gone without a 410',
      ['gone without a 410'],
      { sent: [sent(1, 0)], delivery: { state: 'exhausted', reason: 'gone' } },
    ],
    [
      'a redelivery that was accepted but never sent',
      ['not sent again'],
      { sent: [succeeded(1, 0)], actions: [onDelivery('redeliver', 1_000, 1_010)] },
    ],
    [
      'a notification whose delivery PostgreSQL does not have',
      ['unknown delivery'],
      { deliveries: [], accepted: [], unrecorded: [succeeded(1, 0)] },
    ],
  ];

  it.each(wrong)('%s', (_, rules, told) => {
    expect(rulesOf(told)).toEqual(rules);
  });
});

describe('with a pace', () => {
  type Pace = Pick<Subscription, 'maxPerSecond' | 'maxConcurrent' | 'ordered'>;
  /** A delivery of its own event, which was accepted at this time, and its attempts. */
  interface One {
    acceptedAt: number;
    sent: Sent[];
    harms?: Harm[];
    actions?: Action[];
  }

  function rulesWith(pace: Pace, ...ones: One[]): string[] {
    const all = ones.map(({ acceptedAt, sent: made, harms = [], actions = [] }, index) => {
      const id = `d${index}`;
      const named = made.map(({ call, attempt }) => ({
        call: { ...call, delivery: id },
        attempt: { ...attempt, delivery: id },
      }));
      const delivery = { id, eventId: id };
      const history = historyOf({ sent: named, harms, delivery });
      return {
        ...history,
        actions: actions.map((action) => ({ ...action, delivery: id }) as Action),
        accepted: [{ eventId: id, from: at(acceptedAt - 5), to: at(acceptedAt) }],
      };
    });
    const history: History = {
      subscriptions: [{ id: 's', target: '/t', ...pace }],
      accepted: all.flatMap(({ accepted }) => accepted),
      feeds: [],
      calls: all.flatMap(({ calls }) => calls),
      deliveries: all.flatMap(({ deliveries }) => deliveries),
      attempts: all.flatMap(({ attempts }) => attempts),
      actions: all.flatMap(({ actions }) => actions),
      harms: all.flatMap(({ harms }) => harms),
      endedAt: at(60_000),
    };
    return [...new Set(judge(history, { schedule: SCHEDULE }).violations.map(({ rule }) => rule))];
  }

  const one = (acceptedAt: number, ...times: number[]): One => ({
    acceptedAt,
    sent: times.map((ms, index) =>
      index === times.length - 1 ? succeeded(index + 1, ms) : sent(index + 1, ms),
    ),
  });
  const long = (ms: number): One => ({
    acceptedAt: 0,
    sent: [
      succeeded(1, ms, {
        durationMs: 110,
        call: { writtenAt: at(ms + 105), endedAt: at(ms + 105) },
      }),
    ],
  });

  it('accepts a steady rate, and a burst of the credit and one more', () => {
    const pace = { maxPerSecond: 10 };
    const steady = [100, 200, 300, 400].map((ms) => one(0, ms));
    expect(rulesWith(pace, ...steady, one(0, 300))).toEqual([]);
    expect(rulesWith(pace, ...steady, one(0, 300), one(0, 350))).toEqual(['sent too fast']);
  });

  it('counts calls in flight', () => {
    const pace = { maxConcurrent: 2 };
    expect(rulesWith(pace, long(0), long(50), long(110))).toEqual([]);
    expect(rulesWith(pace, long(0), long(50), long(90))).toEqual(['too many calls at once']);
  });

  it('accepts one after the other, with retries', () => {
    expect(rulesWith({ ordered: true }, one(0, 0, 1_000), one(10, 1_020))).toEqual([]);
  });

  it('accepts any order of events that were reported at the same time', () => {
    expect(rulesWith({ ordered: true }, one(0, 50), one(4, 20))).toEqual([]);
  });

  it.each([
    ['a later one before the first attempt', one(0, 50), one(10, 20)],
    ['a later one before a retry', one(0, 0, 1_000), one(10, 20)],
  ])('finds %s', (_, earlier, later) => {
    expect(rulesWith({ ordered: true }, earlier, later)).toEqual(['sent out of order']);
  });

  it('finds two calls at once', () => {
    expect(rulesWith({ ordered: true }, long(0), long(50))).toEqual(['too many calls at once']);
  });

  it('accepts a redelivery after a later one', () => {
    const redelivered: One = {
      acceptedAt: 0,
      sent: [succeeded(1, 0), succeeded(2, 60)],
      actions: [onDelivery('redeliver', 50, 55)],
    };
    expect(rulesWith({ ordered: true }, redelivered, one(10, 20))).toEqual([]);
  });

  it('accepts one that a customer sends now before an earlier one, and beside another call', () => {
    const asked: One = { ...one(10, 20), actions: [onDelivery('send', 12, 15)] };
    expect(rulesWith({ ordered: true }, one(0, 50), asked)).toEqual([]);
    expect(rulesWith({ ordered: true }, one(0, 50), one(10, 20))).toEqual(['sent out of order']);
    const long1 = { ...long(50), actions: [onDelivery('send', 12, 15)] };
    expect(rulesWith({ ordered: true }, long(0), long1)).toEqual([]);
  });

  it('accepts a late call of a worker that was frozen', () => {
    const late: One = { ...one(0, 50), harms: [harm('frozen', 45, 60, '1')] };
    const other: One = { acceptedAt: 10, sent: [succeeded(1, 20, { worker: '2' })] };
    expect(rulesWith({ ordered: true }, late, other)).toEqual([]);
  });
});

describe('a duplicate is explained', () => {
  const explained: [string, number, Told][] = [
    ['by nothing', 0, { sent: [succeeded(1, 0), succeeded(2, 1_100)] }],
    ['by the death of its worker', 1, { unrecorded: [succeeded(1, 980)], harms: [GONE_WORKER] }],
    [
      'by nothing when its worker died after it was recorded',
      0,
      { sent: [succeeded(1, 980)], harms: [GONE_WORKER] },
    ],
    [
      'by nothing when another worker died',
      0,
      { unrecorded: [succeeded(1, 980)], harms: [{ ...GONE_WORKER, worker: '2' }] },
    ],
    [
      'by an answer that came too late',
      1,
      {
        sent: [
          sent(1, 0, {
            ...NO_ANSWER,
            durationMs: 3_000,
            call: { answer: 200, writtenAt: at(2_990), endedAt: at(2_990) },
          }),
        ],
      },
    ],
    [
      'by a worker that was frozen between lease and call, for both calls',
      2,
      {
        sent: [
          succeeded(1, 500, {
            take: 1,
            durationMs: 20_020,
            call: { at: at(20_510), writtenAt: at(20_515), endedAt: at(20_515) },
          }),
          succeeded(1, 18_000, { take: 2, worker: '2' }),
        ],
        harms: [harm('frozen', 502, 20_500, '1')],
      },
    ],
    [
      'by a redelivery, except for the last call',
      1,
      { sent: [succeeded(1, 0), succeeded(2, 60)], actions: [onDelivery('redeliver', 50, 55)] },
    ],
  ];

  it.each(explained)('%s', (_, count, told) => {
    expect(judge(historyOf(told), expected).explained.size).toBe(count);
  });
});

describe('the feed', () => {
  const event = (eventId: string): Accepted => ({ eventId, from: at(-20), to: at(0) });
  const rulesOfFeeds = (...feeds: string[][]) => {
    const accepted = [event('e'), event('f')];
    const rules = rulesOf({ sent: [succeeded(1, 0)], accepted, feeds });
    return rules.filter((rule) => rule.endsWith('feed'));
  };

  it.each<[string, string[][], string[]]>([
    [
      'has every event once, in one order',
      [
        ['f', 'e'],
        ['f', 'e'],
      ],
      [],
    ],
    [
      'has events that nobody was promised',
      [
        ['f', 'lost', 'e'],
        ['f', 'e'],
      ],
      [],
    ],
    ['lacks an event', [['e', 'f'], ['f']], ['missing in the feed']],
    [
      'repeats an event',
      [
        ['e', 'f', 'e'],
        ['e', 'f'],
      ],
      ['repeated in the feed'],
    ],
    [
      'has another order',
      [
        ['e', 'f'],
        ['f', 'e'],
      ],
      ['other order in the feed'],
    ],
  ])('%s', (_, feeds, rules) => {
    expect(rulesOfFeeds(...feeds)).toEqual(rules);
  });
});
