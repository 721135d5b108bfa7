import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { FairScheduler, UnreadableSecretError } from '#libs/kernel';
import type { FailureLog, Log, Processes } from '#libs/runtime';
import { DeliveryRunner, type RunResult } from '../domain/delivery-runner.js';
import {
  aLeasedDelivery,
  CircuitBreakerSpy,
  job,
  NoTrace,
  PendingSpy,
  settings,
  TargetSpy,
} from '../domain/delivery-runner.fake.js';
import { CallLimiter } from '../domain/call-limiter.js';
import { Hold } from '../domain/hold.js';
import { DeliverySlots } from '../domain/delivery-slots.js';
import { type LeasedDelivery, RefusedOutcomeError } from '../domain/pending-deliveries.js';
import { FakeActivity } from '../../activity/domain/activity.fake.js';
import type { DeliveryResults } from '../../statistics/delivery-results.js';
import type { AttemptCounter } from '../../statistics/attempt-counter.js';
import { DeliveriesInFlight } from './deliveries-in-flight.js';
import type { DeliveryMetrics } from '../delivery-metrics.js';

const AT_ONCE = 16;
const { accountId } = aLeasedDelivery().event;

let pending: PendingSpy;
let target: TargetSpy;
let circuitBreaker: CircuitBreakerSpy;
let trace: NoTrace;
let activity: FakeActivity;
let metrics: { attempted: () => void; ended: () => void; outcomeRefused: () => void };
let counter: { count: () => void };
let logged: unknown[];
let processes: Pick<Processes, 'count' | 'hold'>;
let countInFlight: () => number;
let runner: DeliveryRunner;
let slots: DeliverySlots;
let inFlight: DeliveriesInFlight;

beforeEach(() => {
  pending = new PendingSpy();
  target = new TargetSpy();
  circuitBreaker = new CircuitBreakerSpy();
  trace = new NoTrace();
  activity = new FakeActivity();
  metrics = {
    attempted: () => undefined,
    ended: () => undefined,
    outcomeRefused: () => undefined,
  };
  counter = { count: () => undefined };
  logged = [];
  processes = { hold: undefined, count: (count) => (countInFlight = count) };
  slots = new DeliverySlots(AT_ONCE, 1);
  const hold = new Hold(() => undefined);
  runner = new DeliveryRunner(pending, target, circuitBreaker, trace, activity, settings, hold);
  inFlight = new DeliveriesInFlight(
    metrics as unknown as DeliveryMetrics,
    counter as unknown as AttemptCounter,
    { succeeded: vi.fn(), lost: vi.fn() } as unknown as DeliveryResults,
    { info: vi.fn() } as unknown as Log,
    { failed: (error: unknown) => logged.push(error) } as unknown as FailureLog,
    processes as Processes,
  );
});
afterEach(() => {
  vi.restoreAllMocks();
});

/** What the error of each step says. */
const BROKEN = 'broken';
const broken = (): never => {
  throw new Error(BROKEN);
};
const rejected = () => Promise.reject(new Error(BROKEN));

const { subscription, event } = aLeasedDelivery();
type Change = Partial<LeasedDelivery>;
const withTarget = (change: object): Change => ({
  subscription: {
    ...subscription,
    openTarget: () => ({ ...subscription.openTarget(), ...change }),
  },
});

/** Breaks one step of a delivery: in a collaborator, or in the delivery itself. */
const STEPS: [step: string, breakIt: () => Change | undefined][] = [
  [
    'its policy is read',
    () => ({ subscription: Object.defineProperty({ ...subscription }, 'retry', { get: broken }) }),
  ],
  ['the clock is read', () => void vi.spyOn(performance, 'now').mockImplementationOnce(broken)],
  ['its span begins', () => void vi.spyOn(trace, 'around').mockImplementationOnce(broken)],
  ['its span fails', () => void vi.spyOn(trace, 'around').mockImplementationOnce(rejected)],
  [
    'its call is paced',
    () => void vi.spyOn(FairScheduler.prototype, 'next').mockImplementationOnce(rejected),
  ],
  [
    'its body is built from a time that the driver could not read',
    () => ({ event: { ...event, occurredAt: null as unknown as Date } }),
  ],
  [
    'its secrets are decrypted',
    () => ({
      subscription: {
        ...subscription,
        openTarget: () => {
          throw new UnreadableSecretError('SECRETS_KEYS has no key');
        },
      },
    }),
  ],
  ['its time of signing was not read', () => ({ takenAt: null as unknown as Date })],
  ['it is signed', () => withTarget({ secrets: [undefined] })],
  [
    'its headers are built',
    () =>
      withTarget({
        get headers() {
          return broken();
        },
      }),
  ],
  [
    'the client fails on our own side',
    () => void vi.spyOn(target, 'post').mockImplementationOnce(rejected),
  ],
  ['the client throws', () => void vi.spyOn(target, 'post').mockImplementationOnce(broken)],
  ['what was sent is described', () => withTarget({ url: 5 })],
  [
    'the verdict is formed',
    () =>
      void (target.answer = {
        status: 503,
        responseHeaders: Object.defineProperty({}, 'retry-after', { get: broken }),
      }),
  ],
  [
    'the verdict is reported',
    () =>
      void (
        (target.answer = { status: 500 }),
        vi.spyOn(circuitBreaker, 'report').mockImplementationOnce(rejected)
      ),
  ],
  [
    'it rests before it records',
    () => void vi.spyOn(FairScheduler.prototype, 'rest').mockImplementationOnce(rejected),
  ],
  [
    'its outcome is recorded',
    () => void vi.spyOn(pending, 'record').mockImplementationOnce(rejected),
  ],
  [
    'it is reported to the stream',
    () => void vi.spyOn(activity, 'report').mockImplementationOnce(broken),
  ],
  ['it is measured', () => void (metrics.attempted = broken)],
  ['it is counted', () => void (counter.count = broken)],
];

const WAYS: [way: string, run: (delivery: LeasedDelivery) => Promise<RunResult | undefined>][] = [
  ['claimed from PostgreSQL', runClaimed],
  ['loaded for a job of the queue', runQueued],
];

async function runQueued(delivery: LeasedDelivery): Promise<RunResult | undefined> {
  pending.leased = delivery;
  const slot = await slots.reserve();
  return inFlight.run(delivery.id, () => runner.runJob(job, slot));
}

function runClaimed(delivery: LeasedDelivery): Promise<RunResult | undefined> {
  const { webhookId, immediate } = delivery;
  const [slot] = slots.acquire({ webhookId, accountId, immediate });
  return inFlight.run(delivery.id, () => runner.run(delivery, slot!));
}

/** How many slots the account can acquire, for other subscriptions and for immediate deliveries. */
function roomOf(of: DeliverySlots): [scheduled: number, immediate: number] {
  const acquire = (immediate: boolean) =>
    Array.from({ length: AT_ONCE }, (_, n) =>
      of.acquire({ webhookId: `other-${n}`, accountId, immediate }),
    ).flat();
  const [immediate, scheduled] = [acquire(true), acquire(false)];
  for (const slot of [...immediate, ...scheduled]) slot.release();
  return [scheduled.length, immediate.length];
}

/** Nothing is held, and the next deliveries of the subscription go out. */
async function isAsBefore(): Promise<void> {
  await inFlight.idle();
  expect([slots.free, countInFlight()]).toEqual([AT_ONCE, 0]);
  expect(roomOf(slots)).toEqual(roomOf(new DeliverySlots(AT_ONCE, 1)));
  target.answer = { status: 200 };
  metrics.attempted = () => undefined;
  counter.count = () => undefined;
  for (const [, run] of WAYS) {
    for (const immediate of [false, true, false, false, true]) {
      expect(await run(aLeasedDelivery({ immediate }))).toMatchObject({ outcome: 'succeeded' });
    }
  }
}

describe.each(WAYS)('a delivery %s', (_way, run) => {
  it.each(STEPS)('holds no slot after a failure when %s', async (_step, breakIt) => {
    for (const immediate of [false, true]) {
      const delivery = aLeasedDelivery({ immediate });
      expect(await run({ ...delivery, ...breakIt() })).toBeUndefined();
      expect(logged.splice(0)).toHaveLength(1);
      await isAsBefore();
      vi.restoreAllMocks();
    }
  });

  it('holds no slot after its release has failed', async () => {
    vi.spyOn(pending, 'release').mockImplementationOnce(rejected);
    const late = aLeasedDelivery({ leaseEnds: performance.now() });
    expect(await run(late)).toBeUndefined();
    expect(await run(late)).toMatchObject({ outcome: 'released' });
    await isAsBefore();
  });

  it('is due again in five seconds when its call fails on our own side, which is no attempt', async () => {
    vi.spyOn(target, 'post').mockRejectedValueOnce(new Error(BROKEN));
    expect(await run(aLeasedDelivery())).toBeUndefined();
    expect(pending.released).toEqual([`${job.id} in 5000 ms`]);
    expect([pending.recorded, circuitBreaker.told, logged]).toEqual([[], [], [new Error(BROKEN)]]);
    await isAsBefore();
  });

  it('writes no line of its own when its call fails because this host lacks resources', async () => {
    const cause = Object.assign(new Error('connect EMFILE'), { code: 'EMFILE' });
    vi.spyOn(target, 'post').mockRejectedValueOnce(new Error('a shortage', { cause }));
    expect(await run(aLeasedDelivery())).toBeUndefined();
    expect(logged).toEqual([]);
    await isAsBefore();
  });

  it('writes no line when its call fails on our own side during a hold, which the log reports', async () => {
    processes.hold = { cause: 'proxy', since: new Date() };
    const failed = Object.assign(new Error('the egress proxy is away'), { fault: 'proxy' });
    vi.spyOn(target, 'post').mockRejectedValueOnce(failed);
    expect(await run(aLeasedDelivery())).toBeUndefined();
    expect(logged).toEqual([]);
    await isAsBefore();
  });

  it.each([
    ['a minute', { lease: 1, attempt: 1 }, 60_000],
    ['two minutes after the second', { lease: 2, attempt: 1 }, 120_000],
    ['eight minutes after the fourth', { lease: 6, attempt: 3 }, 480_000],
    ['a day after many', { lease: 900, attempt: 1 }, 86_400_000],
  ])('is due again in %s when its outcome is refused', async (_when, change, ms) => {
    const refused = new RefusedOutcomeError(new Error('column "sent" does not exist'));
    vi.spyOn(pending, 'record').mockRejectedValueOnce(refused);
    const counted = vi.spyOn(metrics, 'outcomeRefused');
    expect(await run(aLeasedDelivery(change))).toBeUndefined();
    expect(pending.released).toEqual([`${job.id} in ${ms} ms`]);
    expect([counted.mock.calls.length, logged]).toEqual([1, [refused]]);
    await isAsBefore();
  });

  it('is due when its lease ends if its outcome could not be recorded in time', async () => {
    vi.spyOn(pending, 'record').mockRejectedValueOnce(new Error('PostgreSQL is down'));
    const counted = vi.spyOn(metrics, 'outcomeRefused');
    expect(await run(aLeasedDelivery())).toBeUndefined();
    expect([pending.released, counted.mock.calls.length]).toEqual([[], 0]);
    await isAsBefore();
  });

  it('is due when its lease ends if its release fails, too', async () => {
    vi.spyOn(target, 'post').mockRejectedValueOnce(new Error(BROKEN));
    vi.spyOn(pending, 'release').mockRejectedValueOnce(new Error('PostgreSQL is down'));
    expect(await run(aLeasedDelivery())).toBeUndefined();
    expect(logged).toEqual([new Error(BROKEN)]);
    await isAsBefore();
  });
});

it.each<[string, () => void]>([
  ['cannot be loaded', () => void vi.spyOn(pending, 'load').mockImplementationOnce(rejected)],
  ['cannot be asked for', () => void vi.spyOn(pending, 'load').mockImplementationOnce(broken)],
  [
    'gets no slot',
    () => void vi.spyOn(CallLimiter.prototype, 'isSlow', 'get').mockImplementationOnce(broken),
  ],
])('a job whose delivery %s holds no slot', async (_what, breakIt) => {
  breakIt();
  expect(await runQueued(aLeasedDelivery())).toBeUndefined();
  await isAsBefore();
});

it('writes no line for a job whose delivery cannot be loaded because this host lacks resources', async () => {
  const noConnection = Object.assign(new Error('connect EMFILE'), { code: 'EMFILE' });
  vi.spyOn(pending, 'load').mockRejectedValueOnce(noConnection);
  expect(await runQueued(aLeasedDelivery())).toBeUndefined();
  expect(logged).toEqual([]);
  await isAsBefore();
});
