import { setImmediate as nextLoopTurn } from 'node:timers/promises';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { DeliveryRunner, type RunResult } from './delivery-runner.js';
import { Hold } from './hold.js';
import { DeliverySlots } from './delivery-slots.js';
import {
  aLeasedDelivery,
  CircuitBreakerSpy,
  job,
  NoTrace,
  PendingSpy,
  settings,
  TargetSpy,
} from './delivery-runner.fake.js';
import type { LeasedDelivery } from './pending-deliveries.js';
import type { RetryPolicy } from '../../subscriptions/domain/retry-policy.js';
import { FakeActivity } from '../../activity/domain/activity.fake.js';

const AT_ONCE = 400;
const HEALTHY = aLeasedDelivery().subscription.health;
const FAILING = { ...HEALTHY, failures: 1, failingMs: 5 };

let pending: PendingSpy;
let target: TargetSpy;
let circuitBreaker: CircuitBreakerSpy;
let activity: FakeActivity;
let slots: DeliverySlots;
let runner: DeliveryRunner;
let hold: Hold;
beforeEach(() => {
  pending = new PendingSpy();
  target = new TargetSpy();
  circuitBreaker = new CircuitBreakerSpy();
  activity = new FakeActivity();
  slots = new DeliverySlots(AT_ONCE, 1);
  const trace = new NoTrace();
  hold = new Hold(() => undefined);
  runner = new DeliveryRunner(pending, target, circuitBreaker, trace, activity, settings, hold);
  pending.leased = aLeasedDelivery();
});

/** Runs the job of a delivery. */
async function run(): Promise<RunResult> {
  return runner.runJob(job, await slots.reserve());
}

/** Runs a delivery that was claimed. */
async function runClaimed(delivery: LeasedDelivery): Promise<RunResult> {
  const { webhookId, event, immediate } = delivery;
  const [slot] = slots.acquire({ webhookId, accountId: event.accountId, immediate });
  return runner.run(delivery, slot!);
}

const within = (ms: number): unknown =>
  expect.toSatisfy((delay: number) => delay >= ms * 0.8 && delay <= ms * 1.2);
const conclusionOf = (index: number) => pending.recorded[index]?.conclusion;

it('releases its slot when another worker has the delivery of a job', async () => {
  pending.leased = undefined;
  expect(await run()).toEqual({ outcome: 'idle' });
  expect(target.requests).toHaveLength(0);
  expect(slots.free).toBe(AT_ONCE);
});

it('releases its slot when the delivery cannot be loaded', async () => {
  vi.spyOn(pending, 'load').mockRejectedValue(new Error('PostgreSQL is down'));
  await expect(run()).rejects.toThrow('PostgreSQL is down');
  expect(slots.free).toBe(AT_ONCE);
});

it.each([
  [200, 'succeeded'],
  [299, 'succeeded'],
  [301, 'pending'],
  [400, 'pending'],
  [500, 'pending'],
] as const)('concludes from status %i that the delivery is %s', async (status, state) => {
  target.answer = { status };
  await run();
  expect(pending.recorded[0]?.conclusion.state).toBe(state);
  expect(pending.recorded[0]?.attempt).toMatchObject({ number: 1, status });
});

it('records what was sent, without secrets, and how long each part took', async () => {
  const { subscription } = aLeasedDelivery();
  const openTarget = () => ({
    ...subscription.openTarget(),
    url: 'https://user:secret@target.example/hook?a=1',
    headers: { 'X-Api-Key': 'secret' },
  });
  pending.leased = aLeasedDelivery({ subscription: { ...subscription, openTarget } });
  await run();
  pending.leased = aLeasedDelivery({ attempt: 2 });
  await run();
  const [first, second] = pending.recorded.map(({ attempt }) => attempt);
  expect(first!.request).toEqual({
    method: 'POST',
    url: 'https://***@target.example/hook?a=1',
    headers: {
      ...target.requests[0]!.headers,
      authorization: '***',
      'X-Api-Key': '***',
    },
  });
  expect(JSON.stringify(first)).not.toContain('secret');
  expect(second!.request?.headers).toEqual(target.requests[1]!.headers);
  // The event was accepted a second before the delivery was taken.
  expect(first!.phases).toEqual({ queued: expect.any(Number) as number, firstByte: 2.6 });
  expect(first!.phases!.queued).toBeGreaterThanOrEqual(1_000);
  expect(first!.phases!.queued).toBeLessThan(3_000);
  expect(second!.phases).toEqual({ firstByte: 2.6 });
});

it('retries by the schedule when there is no answer', async () => {
  target.answer = { error: 'refused' };
  await run();
  const { conclusion } = pending.recorded[0]!;
  expect(conclusion.state).toBe('pending');
  const { delayMs } = conclusion as { delayMs: number };
  expect(delayMs).toBeGreaterThanOrEqual(8_000);
  expect(delayMs).toBeLessThanOrEqual(12_000);
});

describe('when several accounts have deliveries', () => {
  const { event } = aLeasedDelivery();
  const of = (accountId: string) =>
    aLeasedDelivery({ id: accountId, webhookId: accountId, event: { ...event, accountId } });
  beforeEach(async () => {
    slots = new DeliverySlots(AT_ONCE, 50);
    // Each quick answer raises the cap by one.
    for (const accountId of ['lone', 'busy', 'busy', 'busy']) await runClaimed(of(accountId));
    target.requests.length = 0;
  });

  it('starts their calls round-robin, however many one account has', async () => {
    target.whilePosting = () => nextLoopTurn();
    const accounts = ['busy', 'busy', 'busy', 'busy', 'lone'];
    await Promise.all(accounts.map((accountId) => runClaimed(of(accountId))));
    const ids = target.requests.map(({ headers }) => headers['webhook-id']);
    expect(ids).toEqual(['busy', 'lone', 'busy', 'busy', 'busy']);
  });

  it('starts waiting calls before it records outcomes', async () => {
    const requestsAtRecord: number[] = [];
    vi.spyOn(pending, 'record').mockImplementation(() => {
      requestsAtRecord.push(target.requests.length);
      return Promise.resolve();
    });
    await Promise.all([1, 2, 3, 4].map(() => runClaimed(of('busy'))));
    expect(requestsAtRecord).toEqual([4, 4, 4, 4]);
  });
});

it('exhausts a delivery at the end of its schedule, counted from its last restart', async () => {
  target.answer = { status: 500 };
  pending.leased = aLeasedDelivery({ attempt: 3 });
  await run();
  expect(pending.recorded[0]?.conclusion).toEqual({
    state: 'exhausted',
    reason: 'no_attempts_left',
  });
  pending.leased = aLeasedDelivery({ attempt: 6, scheduleBase: 4 });
  await run();
  expect(pending.recorded[1]?.conclusion.state).toBe('pending');
});

it('ends the delivery at 410, and reports the verdict', async () => {
  target.answer = { status: 410 };
  await run();
  expect(circuitBreaker.told).toEqual([{ kind: 'gone' }]);
  expect(conclusionOf(0)).toEqual({ state: 'exhausted', reason: 'gone' });
});

it('reports every failure, and the first success after failures', async () => {
  target.answer = { status: 500 };
  await run();
  target.answer = { status: 204 };
  await run();
  const { subscription } = aLeasedDelivery();
  pending.leased = aLeasedDelivery({ subscription: { ...subscription, health: FAILING } });
  await run();
  expect(circuitBreaker.told).toEqual([
    { kind: 'failed', immediate: false },
    { kind: 'succeeded' },
  ]);
});

it('reports the verdict before it records the outcome', async () => {
  target.answer = { status: 500 };
  vi.spyOn(circuitBreaker, 'report').mockImplementation(() => {
    expect(pending.recorded).toEqual([]);
    return Promise.resolve(false);
  });
  await run();
  expect(pending.recorded).toHaveLength(1);
});

it.each([429, 503])('obeys Retry-After with status %i', async (status) => {
  target.answer = { status, responseHeaders: { 'retry-after': '60' } };
  await run();
  expect(circuitBreaker.told).toEqual([{ kind: 'failed', immediate: false, retryAfterMs: 60_000 }]);
  expect(conclusionOf(0)).toEqual({ state: 'pending', delayMs: 60_000 });
});

it('ignores Retry-After with other statuses', async () => {
  target.answer = { status: 500, responseHeaders: { 'retry-after': '60' } };
  await run();
  expect(circuitBreaker.told).toEqual([{ kind: 'failed', immediate: false }]);
});

it('does not retry a test', async () => {
  pending.leased = aLeasedDelivery({ immediate: true });
  target.answer = { status: 500 };
  await run();
  expect(conclusionOf(0)).toEqual({ state: 'exhausted', reason: 'no_attempts_left' });
});

it('goes on with the schedule after a failed attempt outside it', async () => {
  target.answer = { status: 500 };
  for (const immediate of [true, false]) {
    pending.leased = aLeasedDelivery({ attempt: 9, immediate, isExtra: true });
    await run();
  }
  target.answer = { status: 503, responseHeaders: { 'retry-after': '60' } };
  pending.leased = aLeasedDelivery({ isExtra: true });
  await run();
  expect([0, 1, 2].map(conclusionOf)).toEqual(
    [0, 0, 60_000].map((delayMs) => ({ state: 'pending', delayMs, resumes: true })),
  );
});

it.each([
  [2, 1, { state: 'pending', delayMs: within(10_000) }],
  [3, 1, { state: 'pending', delayMs: within(20_000) }],
  [4, 1, { state: 'exhausted', reason: 'no_attempts_left' }],
  [1, 2, { state: 'pending', delayMs: within(10_000) }],
])(
  'does not count attempts outside the schedule: number %i after %i of them',
  async (attempt, extraAttempts, conclusion) => {
    target.answer = { status: 500 };
    pending.leased = aLeasedDelivery({ attempt, extraAttempts });
    await run();
    expect(conclusionOf(0)).toEqual(conclusion);
  },
);

it('ends a delivery that succeeds outside its schedule, or whose target is gone', async () => {
  for (const status of [200, 410]) {
    target.answer = { status };
    pending.leased = aLeasedDelivery({ immediate: true, isExtra: true });
    await run();
  }
  expect([0, 1].map(conclusionOf)).toEqual([
    { state: 'succeeded' },
    { state: 'exhausted', reason: 'gone' },
  ]);
});

it('also records the conclusion for a schedule that was restarted during the attempt', async () => {
  target.answer = { status: 500 };
  pending.leased = aLeasedDelivery({ attempt: 3 });
  await run();
  const [outcome] = pending.recorded;
  expect(outcome).toMatchObject({ scheduleBase: 0, conclusion: { state: 'exhausted' } });
  expect(outcome?.ifRestarted).toMatchObject({ state: 'pending', delayMs: within(10_000) });
});

describe('a delivery that may not start', () => {
  const isReleased = async () => {
    expect(await run()).toMatchObject({ outcome: 'released', delivery: { id: job.id } });
    expect(pending.released).toEqual([job.id]);
    expect(target.requests).toHaveLength(0);
    expect(slots.free).toBe(AT_ONCE);
  };

  it('is released when the worker is stopping', async () => {
    slots.stop();
    await isReleased();
  });

  it('is released when its subscription was blocked since it was leased', async () => {
    const { leasedAt } = aLeasedDelivery();
    circuitBreaker.blocking = true;
    target.answer = { status: 429 };
    await run();
    target.requests.length = 0;
    pending.leased = aLeasedDelivery({ leasedAt });
    await isReleased();
  });

  it('is released when its call might outlast its lease', async () => {
    pending.leased = aLeasedDelivery({ leaseEnds: performance.now() + 18_000 });
    await isReleased();
  });
});

it('finishes calls in flight while it is stopping', async () => {
  target.whilePosting = () => {
    slots.stop();
    return Promise.resolve();
  };
  expect(await run()).toMatchObject({ outcome: 'succeeded' });
});

it('releases a delivery for which there is no slot, and releases slots after calls', async () => {
  let nested: RunResult | undefined;
  target.whilePosting = async () => {
    target.whilePosting = () => Promise.resolve();
    nested = await run();
  };
  await run();
  expect(nested).toMatchObject({ outcome: 'released' });
  expect(await run()).toMatchObject({ outcome: 'succeeded' });
});

it('releases a test when its account has reached its limit of tests', async () => {
  slots = new DeliverySlots(2, 1);
  pending.leased = aLeasedDelivery({ immediate: true });
  let nested: RunResult | undefined;
  target.whilePosting = async () => {
    target.whilePosting = () => Promise.resolve();
    nested = await run();
  };
  await run();
  expect(nested).toMatchObject({ outcome: 'released' });
  expect(await run()).toMatchObject({ outcome: 'succeeded' });
});

it('adds the header webhook-replayed only to replays', async () => {
  await run();
  pending.leased = aLeasedDelivery({ replayed: true });
  await run();
  expect(target.requests.map(({ headers }) => headers['webhook-replayed'])).toEqual([
    undefined,
    'true',
  ]);
});

it('sends the signed body with our user agent, on behalf of its account', async () => {
  await run();
  expect(target.requests[0]).toMatchObject({
    accountId: '1',
    url: 'http://target.example/',
    timeoutMs: 15_000,
    headers: {
      'content-type': 'application/json',
      'user-agent': 'Switchhook/test',
      'webhook-id': job.id,
      'webhook-timestamp': '1795262400',
    },
  });
});

it("sends the subscription's headers, which cannot replace ours", async () => {
  const { subscription } = aLeasedDelivery();
  const headers = { 'X-Api-Key': 'key', 'webhook-id': 'x' };
  const openTarget = () => ({ ...subscription.openTarget(), headers });
  pending.leased = aLeasedDelivery({ subscription: { ...subscription, openTarget } });
  await run();
  expect(target.requests[0]?.headers).toMatchObject({ 'X-Api-Key': 'key', 'webhook-id': job.id });
});

it("schedules the next attempt by the subscription's own policy", async () => {
  target.answer = { status: 500 };
  const { subscription } = aLeasedDelivery();
  const withPolicy = (retry: RetryPolicy, attempt: number) =>
    aLeasedDelivery({ attempt, subscription: { ...subscription, retry } });
  for (const leased of [
    withPolicy({ schedule: [100], timeoutMs: 2_000 }, 1),
    withPolicy({ schedule: [100] }, 2),
    withPolicy({ timeoutMs: 20_000 }, 2),
  ]) {
    pending.leased = leased;
    await run();
  }
  expect(pending.recorded.map(({ conclusion }) => conclusion)).toEqual([
    { state: 'pending', delayMs: within(100_000) },
    { state: 'exhausted', reason: 'no_attempts_left' },
    { state: 'pending', delayMs: within(20_000) },
  ]);
  const configured = settings.timeoutMs;
  expect(target.requests.map(({ timeoutMs }) => timeoutMs)).toEqual([2_000, configured, 20_000]);
});

it('makes no attempt of a call that fails on our own side', async () => {
  vi.useFakeTimers();
  try {
    pending.leased = aLeasedDelivery();
    target.whilePosting = () => Promise.reject(new Error('EMFILE'));
    const running = expect(run()).rejects.toThrow('EMFILE');
    // It keeps its slot for a second, so that a host without resources makes fewer calls.
    await vi.advanceTimersByTimeAsync(999);
    expect([pending.released, slots.free]).toEqual([[], AT_ONCE - 1]);
    await vi.advanceTimersByTimeAsync(1);
    await running;
    expect(slots.free).toBe(AT_ONCE);
    expect(pending.released).toEqual([`${job.id} in 5000 ms`]);
    expect([pending.recorded, circuitBreaker.told, activity.reported]).toEqual([[], [], []]);
  } finally {
    vi.useRealTimers();
  }
});

describe('when five hosts that were healthy do not answer', () => {
  const of = (host: string, id: string) => {
    const delivery = aLeasedDelivery({ id, webhookId: host });
    const openTarget = () => ({
      ...delivery.subscription.openTarget(),
      url: `http://${host}.example/`,
    });
    return { ...delivery, subscription: { ...delivery.subscription, openTarget } };
  };

  it.each(['refused', 'timeout', 'reset', 'dns'] as const)(
    'books two attempts that end with %s, and releases the other deliveries',
    async (error) => {
      target.answer = { error };
      await Promise.all(['a', 'b', 'c', 'd', 'e'].map((host) => runClaimed(of(host, host))));
      expect(pending.recorded.map(({ id }) => id)).toEqual(['a', 'b']);
      expect(pending.released.sort()).toEqual(['c', 'd', 'e']);
      expect(circuitBreaker.told).toHaveLength(2);
      expect(slots.free).toBe(AT_ONCE);
    },
  );

  it.each([
    ['have never succeeded', () => Promise.resolve(false)],
    ['cannot be looked up', () => Promise.reject(new Error('PostgreSQL is away'))],
  ])('books all of a worker that starts if their subscriptions %s', async (_, hasSucceeded) => {
    target.answer = { error: 'timeout' };
    pending.hasSucceeded = hasSucceeded;
    await Promise.all(['a', 'b', 'c', 'd', 'e'].map((host) => runClaimed(of(host, host))));
    expect(pending.recorded).toHaveLength(5);
  });

  it.each(['tls', 'protocol', 'blocked'] as const)(
    'books all that end with %s, which is no silence',
    async (error) => {
      target.answer = { error };
      await Promise.all(['a', 'b', 'c', 'd', 'e'].map((host) => runClaimed(of(host, host))));
      expect(pending.recorded).toHaveLength(5);
    },
  );

  it('then calls one a second, and releases the others uncalled', async () => {
    for (const host of ['a', 'b', 'c', 'd', 'e']) hold.failedOnOurSide(host, 'network');
    await Promise.all(['a', 'b', 'c'].map((host) => runClaimed(of(host, host))));
    expect(target.requests.map(({ url }) => url)).toEqual(['http://a.example/']);
    expect(pending.released.sort()).toEqual(['b', 'c']);
    expect(hold.isOn).toBe(false);
  });
});
