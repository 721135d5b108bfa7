import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  circuitOf,
  decide,
  type Decision,
  DELETED,
  disablesAt,
  followedBy,
  type Health,
  healthAfter,
  NEXT,
  noticeOf,
  NOW,
  PAUSED,
  resumed,
  RETARGETED,
  SWITCHED_ON,
  switchedOff,
  type Verdict,
  type Verdicts,
  verdictsOf,
} from './subscription-life.js';
import { FAILING_MS } from '../../event-kinds/domain/event-kinds.js';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

const closed = (failures: number, failingMs: number | null): Health => ({
  failures,
  failingMs,
  openings: 0,
  openMs: null,
});
const open = (openMs: number, columns: Partial<Health> = {}): Health => ({
  failures: 10,
  failingMs: HOUR,
  openings: 1,
  openMs,
  ...columns,
});

/** Every state of a target, at its boundary values. */
const STATES = {
  healthy: closed(0, null),
  'failing since just now': closed(8, 0),
  'failing for five days': closed(8, FAILING_MS),
  'nine failures within 30 s': closed(9, 29_999),
  'nine failures over 30 s': closed(9, 30_000),
  'ten failures within 30 s': closed(10, 29_999),
  'ten failures over 30 s': closed(10, 30_000),
  'ten failures over five days': closed(10, FAILING_MS),
  open: open(1),
  'open, failing for five days': open(1, { failingMs: FAILING_MS }),
  'half-open': open(0),
  'half-open for an hour': open(-HOUR),
  'half-open, opened seven times': open(0, { openings: 7 }),
  'half-open, opened 5,000 times': open(0, { openings: 5_000 }),
  'half-open, failing for almost five days': open(0, { failingMs: FAILING_MS - 1 }),
  'half-open, failing for five days': open(0, { failingMs: FAILING_MS }),
  'half-open, resumed just now': open(0, { failingMs: 0 }),
} satisfies Record<string, Health>;

const VERDICTS = {
  success: { kind: 'succeeded' },
  failure: { kind: 'failed' },
  'failed test': { kind: 'failed', immediate: true },
  'failed test that asks for a minute': { kind: 'failed', immediate: true, retryAfterMs: MINUTE },
  'failure that asks for a minute': { kind: 'failed', retryAfterMs: MINUTE },
  gone: { kind: 'gone' },
} satisfies Record<string, Verdict>;

const WELL = { failures: 0, openings: 0, openMs: null, failingSince: null } as const;
const RECOVERED: Decision = { health: WELL };
const CLOSED: Decision = { health: WELL, change: 'closed', backlog: true };
const FAILING_OFF: Decision = { off: 'failing', change: 'switched_off' };
const counted = (failures: number, failingSince: 'kept' | typeof NOW = 'kept'): Decision => ({
  health: { failures, openings: 0, openMs: null, failingSince },
});
const opened = (seconds: number, openings: number): Decision => ({
  health: { failures: 10, openings, openMs: seconds * 1_000, failingSince: 'kept' },
  change: 'opened',
  backlog: true,
});

/** Decisions after a success and after a failure; those after other verdicts derive from them. */
const TRANSITIONS: Record<
  keyof typeof STATES,
  Record<'success' | 'failure', Decision | undefined>
> = {
  healthy: { success: undefined, failure: counted(1, NOW) },
  'failing since just now': { success: RECOVERED, failure: counted(9) },
  'failing for five days': { success: RECOVERED, failure: counted(9) },
  'nine failures within 30 s': { success: RECOVERED, failure: counted(10) },
  'nine failures over 30 s': { success: RECOVERED, failure: opened(30, 1) },
  'ten failures within 30 s': { success: RECOVERED, failure: undefined },
  'ten failures over 30 s': { success: RECOVERED, failure: opened(30, 1) },
  'ten failures over five days': { success: RECOVERED, failure: opened(30, 1) },
  open: { success: CLOSED, failure: undefined },
  'open, failing for five days': { success: CLOSED, failure: undefined },
  'half-open': { success: CLOSED, failure: opened(60, 2) },
  'half-open for an hour': { success: CLOSED, failure: opened(60, 2) },
  'half-open, opened seven times': { success: CLOSED, failure: opened(3_600, 8) },
  'half-open, opened 5,000 times': { success: CLOSED, failure: opened(3_600, 5_001) },
  'half-open, failing for almost five days': { success: CLOSED, failure: opened(60, 2) },
  'half-open, failing for five days': { success: CLOSED, failure: FAILING_OFF },
  'half-open, resumed just now': { success: CLOSED, failure: opened(60, 2) },
};

const HELD = { holdMs: MINUTE, backlog: true } as const;

function expected(state: keyof typeof STATES, verdict: keyof typeof VERDICTS) {
  const of = TRANSITIONS[state];
  const all: Record<keyof typeof VERDICTS, Decision | undefined> = {
    ...of,
    'failed test': undefined,
    'failed test that asks for a minute': HELD,
    'failure that asks for a minute': { ...of.failure, ...HELD },
    gone: { off: 'gone', change: 'switched_off' },
  };
  return all[verdict];
}

const names = <Name extends string>(of: Record<Name, unknown>) => Object.keys(of) as Name[];

describe.each(names(STATES))('decide for a target in state: %s', (state) => {
  it.each(names(VERDICTS))('returns the expected decision after one %s', (verdict) => {
    const decision = decide(STATES[state], verdictsOf(VERDICTS[verdict]));
    expect(decision).toEqual(expected(state, verdict));
  });
});

it.each<[what: string, decision: Decision, kind: string | undefined]>([
  ['the first opening of a circuit', opened(30, 1), 'webhookFailing'],
  ['a failed probe', opened(60, 2), undefined],
  ['a closed circuit', CLOSED, 'webhookRecovered'],
  ['a success with a closed circuit', RECOVERED, undefined],
  ['five days of failures', FAILING_OFF, 'webhookDisabled'],
  ['a 410', { off: 'gone', change: 'switched_off' }, 'webhookDisabled'],
  ['a failure', counted(3), undefined],
  ['a hold', HELD, undefined],
])('notifies other subscriptions of %s, or not', (_what, decision, kind) => {
  expect(noticeOf(decision)).toBe(kind);
});

/** The health after a decision. */
function applied(health: Health, decision: Decision | undefined): Health {
  if (!decision?.health) return health;
  const { failingSince, ...others } = decision.health;
  const failingMs = failingSince === NOW ? 0 : failingSince && health.failingMs;
  return { ...others, failingMs };
}

const folded = ([first, ...others]: readonly [Verdict, ...Verdict[]]): Verdicts =>
  others.reduce((all, next) => followedBy(all, verdictsOf(next), 0), verdictsOf(first));

const aState = fc.constantFrom(...Object.values<Health>(STATES));
const anyOf = (...verdicts: Verdict[]) =>
  fc
    .tuple(fc.constantFrom(...verdicts), fc.array(fc.constantFrom(...verdicts), { maxLength: 25 }))
    .map(([first, others]): [Verdict, ...Verdict[]] => [first, ...others]);

describe('combined verdicts', () => {
  it('have the same effect as single verdicts in sequence, if none is a success', () => {
    const others = Object.values<Verdict>(VERDICTS).filter(({ kind }) => kind !== 'succeeded');
    fc.assert(
      fc.property(aState, anyOf(...others), (state, verdicts) => {
        let health = state;
        let off: Decision['off'];
        for (const verdict of verdicts) {
          const decision = decide(health, verdictsOf(verdict));
          off ??= decision?.off;
          health = applied(health, decision);
          if (off !== undefined) break;
        }
        const decision = decide(state, folded(verdicts));
        // With both a last failed probe and a 410, the reason may differ, but it is disabled either way.
        expect(decision?.off === undefined).toBe(off === undefined);
        if (off === undefined) expect(applied(state, decision)).toEqual(health);
      }),
    );
  });

  it('count only the failures after the last success', () => {
    const { success, failure } = VERDICTS;
    fc.assert(
      fc.property(aState, anyOf(success, failure), (state, verdicts) => {
        const last = verdicts.findLastIndex(({ kind }) => kind === 'succeeded');
        fc.pre(last >= 0);
        const since = verdicts.length - 1 - last;
        const decision = decide(state, folded(verdicts));
        expect(applied(state, decision)).toEqual(
          closed(Math.min(since, 10), since === 0 ? null : 0),
        );
      }),
    );
  });

  it('count at most ten failures after a success', () => {
    const { success, failure } = VERDICTS;
    const { failures } = folded([success, ...Array.from({ length: 12 }, () => failure)]);
    expect(failures).toBe(10);
  });

  it('hold for the longest time that the target asked for, minus the time since', () => {
    const asked = (retryAfterMs: number) => verdictsOf({ kind: 'failed', retryAfterMs });
    expect(followedBy(asked(MINUTE), asked(1_000), 10_000).holdMs).toBe(50_000);
    expect(followedBy(asked(MINUTE), asked(HOUR), 10_000).holdMs).toBe(HOUR);
    expect(followedBy(asked(MINUTE), verdictsOf(VERDICTS.failure), HOUR).holdMs).toBe(0);
  });

  it('do not hold a target if the time it asked for is already over', () => {
    const expired = { ...verdictsOf(VERDICTS['failed test']), holdMs: -5 };
    expect(decide(STATES.healthy, expired)).toBeUndefined();
  });
});

it('disables a subscription after five days of failures, with probes finally an hour apart', () => {
  let health = STATES.healthy;
  let ms = 0;
  const changes: string[] = [];
  for (let attempts = 1; attempts < 200; attempts += 1) {
    const decision = decide(health, verdictsOf(VERDICTS.failure));
    if (decision?.change) changes.push(decision.change);
    if (decision?.off) break;
    health = applied(health, decision);
    const wait = circuitOf(health) === 'closed' ? 5_000 : health.openMs!;
    health = healthAfter(health, wait);
    ms += wait;
  }
  expect(changes.at(-1)).toBe('switched_off');
  // 30 s, 1, 2, 4, 8, 16 and 32 minutes; then every hour of five days.
  expect(changes.filter((change) => change === 'opened')).toHaveLength(7 + 119);
  expect(ms).toBeGreaterThanOrEqual(FAILING_MS);
  expect(ms).toBeLessThan(FAILING_MS + HOUR);
});

it('derives the state of the circuit from the time until which it is open', () => {
  const circuits = [null, 1, 0, -1].map((openMs) => circuitOf({ openMs }));
  expect(circuits).toEqual(['closed', 'open', 'half_open', 'half_open']);
});

it('warns of disabling five days after the first failure, but not before the next probe', () => {
  const since = new Date(0);
  expect(disablesAt(since, new Date(1_000))).toEqual(new Date(FAILING_MS));
  expect(disablesAt(since, new Date(FAILING_MS + 1))).toEqual(new Date(FAILING_MS + 1));
});

describe('a request of the customer', () => {
  const times = { failingSince: null, openedAt: null, openUntil: null };
  const healthy = { failures: 0, openings: 0, ...times };
  const cancelled = { generation: NEXT, cancelling: true };

  it('disables a subscription without a reason, and the service gives one', () => {
    const off = { enabled: false, disabledReason: null, disabledAt: null };
    expect(switchedOff(null)).toEqual({ ...off, ...cancelled });
    for (const reason of ['gone', 'failing'] as const) {
      const because = { disabledReason: reason, disabledAt: NOW };
      expect(switchedOff(reason)).toEqual({ enabled: false, ...because, ...cancelled });
    }
  });

  it('deletes a subscription with its secrets, and cancels its deliveries', () => {
    const cleared = { payload: null, filter: null, filterId: null, headers: null, userinfo: null };
    expect(DELETED).toEqual({ deletedAt: NOW, ...cleared, ...cancelled });
  });

  it('enables a subscription, resets its health and ignores verdicts of earlier calls', () => {
    const on = { enabled: true, targetVersion: NEXT, disabledReason: null, disabledAt: null };
    expect(SWITCHED_ON).toEqual({ ...on, ...healthy });
  });

  it('sets a new target, which resets the health and ends a hold', () => {
    expect(RETARGETED).toEqual({ targetVersion: NEXT, holdUntil: null, ...healthy });
  });

  it('pauses a subscription, and later deliveries wait behind earlier ones', () => {
    expect(PAUSED).toEqual({ paused: true, backlog: true });
  });

  it('resumes a subscription, which ends only the pause', () => {
    expect(resumed({ failingSince: null })).toEqual({ paused: false });
  });

  it('resumes a failing subscription, which restarts the five days', () => {
    expect(resumed({ failingSince: new Date() })).toEqual({ paused: false, failingSince: NOW });
  });
});
