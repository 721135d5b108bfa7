import { beforeEach, describe, expect, it } from 'vitest';
import { readConfig, UnreadableSecretError } from '#libs/kernel';
import { AttemptTrace } from './attempt-trace.js';
import type { DeliveryJob } from './delivery.js';
import { DeliveryRunner } from './delivery-runner.js';
import {
  type CalledTarget,
  type Observation,
  type Outcome,
  PendingDeliveries,
  type ReleaseCause,
  type TakenDelivery,
} from './pending-deliveries.js';
import type { RetryPolicy } from './retry-policy.js';
import { TargetClient, type TargetAnswer, type TargetRequest } from './target-client.js';

const config = readConfig({
  DATABASE_URL: 'unused',
  DELIVERY_RETRY_SCHEDULE: '10s,20s',
  DELIVERY_CONCURRENCY: '1',
});

class FakePending extends PendingDeliveries {
  taken: TakenDelivery | undefined;
  readonly recorded: Outcome[] = [];
  readonly released: ReleaseCause[] = [];
  readonly switchedOff: string[] = [];
  readonly holds: number[] = [];
  readonly observed: boolean[] = [];
  take(_job: DeliveryJob): Promise<TakenDelivery | undefined> {
    return Promise.resolve(this.taken);
  }
  release(_taken: TakenDelivery, cause: ReleaseCause): Promise<void> {
    this.released.push(cause);
    return Promise.resolve();
  }
  record(outcome: Outcome): Promise<void> {
    this.recorded.push(outcome);
    return Promise.resolve();
  }
  observe({ succeeded }: Observation): Promise<void> {
    this.observed.push(succeeded);
    return Promise.resolve();
  }
  switchOff({ webhookId }: CalledTarget): Promise<void> {
    this.switchedOff.push(webhookId);
    return Promise.resolve();
  }
  hold(_target: CalledTarget, forMs: number): Promise<void> {
    this.holds.push(forMs);
    return Promise.resolve();
  }
}

class FakeTarget extends TargetClient {
  answer: Partial<TargetAnswer> = { status: 200 };
  readonly requests: TargetRequest[] = [];
  whilePosting: () => Promise<unknown> = () => Promise.resolve();
  async post(request: TargetRequest): Promise<TargetAnswer> {
    this.requests.push(request);
    await this.whilePosting();
    return { durationMs: 3, truncated: false, ...this.answer };
  }
}

class NoTrace extends AttemptTrace {
  around<Result>(_taken: TakenDelivery, work: () => Promise<Result>): Promise<Result> {
    return work();
  }
}

const job = { id: '0192f0c1-0000-7000-8000-000000000001', attempt: 1 };

function aTakenDelivery(change: Partial<TakenDelivery> = {}): TakenDelivery {
  return {
    id: job.id,
    attempt: 1,
    take: 1,
    scheduleBase: 0,
    immediate: false,
    replayed: false,
    createdAt: new Date('2026-11-21T11:59:59Z'),
    takenAt: new Date('2026-11-21T12:00:00Z'),
    event: {
      accountId: '1',
      event: 'smsdlr',
      resource: 'sms',
      occurredAt: new Date('2026-11-21T11:00:00Z'),
      test: false,
      data: '{}',
    },
    webhookId: '5',
    subscription: {
      targetVersion: 1,
      openTarget: () => ({
        url: 'http://target.example/',
        headers: {},
        secrets: [`whsec_${Buffer.alloc(32).toString('base64')}`],
      }),
      cancelled: false,
      held: false,
      backlog: false,
      failing: false,
    },
    ...change,
  };
}

let pending: FakePending;
let target: FakeTarget;
let runner: DeliveryRunner;
beforeEach(() => {
  pending = new FakePending();
  target = new FakeTarget();
  runner = new DeliveryRunner(pending, target, new NoTrace(), config, 'Switchhook/test');
  pending.taken = aTakenDelivery();
});

it('does nothing for a job that is nobody’s turn', async () => {
  pending.taken = undefined;
  expect(await runner.run(job)).toEqual({ backlog: false, outcome: 'idle' });
  expect(target.requests).toHaveLength(0);
});

it.each([
  [200, 'succeeded'],
  [299, 'succeeded'],
  [301, 'pending'],
  [400, 'pending'],
  [500, 'pending'],
] as const)('concludes from status %i that the delivery is %s', async (status, state) => {
  target.answer = { status };
  await runner.run(job);
  expect(pending.recorded[0]?.conclusion.state).toBe(state);
  expect(pending.recorded[0]?.attempt).toMatchObject({ number: 1, status });
});

it('retries after no answer, by the schedule', async () => {
  target.answer = { error: 'refused' };
  await runner.run(job);
  const { conclusion } = pending.recorded[0]!;
  expect(conclusion.state).toBe('pending');
  const { delayMs } = conclusion as { delayMs: number };
  expect(delayMs).toBeGreaterThanOrEqual(8_000);
  expect(delayMs).toBeLessThanOrEqual(12_000);
});

it('is exhausted when the schedule is used up, counted from its last beginning', async () => {
  target.answer = { status: 500 };
  pending.taken = aTakenDelivery({ attempt: 3 });
  await runner.run(job);
  expect(pending.recorded[0]?.conclusion).toEqual({
    state: 'exhausted',
    reason: 'no_attempts_left',
  });
  pending.taken = aTakenDelivery({ attempt: 6, scheduleBase: 4 });
  await runner.run(job);
  expect(pending.recorded[1]?.conclusion.state).toBe('pending');
});

it('switches the subscription off at 410', async () => {
  target.answer = { status: 410 };
  await runner.run(job);
  expect(pending.switchedOff).toEqual(['5']);
  expect(pending.recorded[0]?.conclusion).toEqual({ state: 'exhausted', reason: 'gone' });
});

it('tells of every failure, and of the success that follows', async () => {
  target.answer = { status: 500 };
  await runner.run(job);
  target.answer = { error: 'timeout' };
  await runner.run(job);
  target.answer = { status: 204 };
  await runner.run(job);
  expect(pending.observed).toEqual([false, false]);
  const { subscription } = aTakenDelivery();
  pending.taken = aTakenDelivery({ subscription: { ...subscription, failing: true } });
  await runner.run(job);
  expect(pending.observed).toEqual([false, false, true]);
});

it('lets a test speak for a target, and not against it', async () => {
  const { subscription } = aTakenDelivery();
  const failing = { ...subscription, failing: true };
  pending.taken = aTakenDelivery({ immediate: true, subscription: failing });
  target.answer = { status: 500 };
  await runner.run(job);
  target.answer = { status: 204 };
  await runner.run(job);
  expect(pending.observed).toEqual([true]);
});

describe.each([429, 503])('a %i with Retry-After', (status) => {
  it('holds the subscription, and the delivery for the longer of both', async () => {
    target.answer = { status, responseHeaders: { 'retry-after': '60' } };
    await runner.run(job);
    expect(pending.holds).toEqual([60_000]);
    expect(pending.recorded[0]?.conclusion).toEqual({ state: 'pending', delayMs: 60_000 });
  });
});

it('holds nothing for a Retry-After of another status', async () => {
  target.answer = { status: 500, responseHeaders: { 'retry-after': '60' } };
  await runner.run(job);
  expect(pending.holds).toEqual([]);
});

it('sends once what is immediate, whatever holds the subscription', async () => {
  const { subscription } = aTakenDelivery();
  pending.taken = aTakenDelivery({
    immediate: true,
    subscription: { ...subscription, held: true },
  });
  target.answer = { status: 500 };
  await runner.run(job);
  expect(target.requests).toHaveLength(1);
  expect(pending.recorded[0]?.conclusion.state).toBe('exhausted');
});

it.each(['cancelled', 'held'] as const)('hands back unsent what is %s', async (cause) => {
  const { subscription } = aTakenDelivery();
  pending.taken = aTakenDelivery({ subscription: { ...subscription, [cause]: true } });
  expect((await runner.run(job)).outcome).toBe('released');
  expect(pending.released).toEqual([cause]);
  expect(target.requests).toHaveLength(0);
});

it('hands back unsent what it takes when it is stopping, and finishes what it sends', async () => {
  let late: unknown;
  target.whilePosting = async () => {
    runner.stop();
    late = await runner.run(job);
  };
  expect((await runner.run(job)).outcome).toBe('succeeded');
  expect(late).toMatchObject({ outcome: 'released', backlog: false });
  expect(pending.released).toEqual(['stopping']);
});

it('hands back what exceeds the bound of its subscription, and frees the slot after the call', async () => {
  let nested: unknown;
  target.whilePosting = async () => {
    target.whilePosting = () => Promise.resolve();
    nested = await runner.run(job);
  };
  await runner.run(job);
  expect(nested).toMatchObject({ outcome: 'released', backlog: true });
  expect(pending.released).toEqual(['no_share']);
  expect((await runner.run(job)).outcome).toBe('succeeded');
});

it('hands back a test of an account that has its share of them under way, and marks no backlog', async () => {
  const small = { ...config, WORKER_CONCURRENCY: 2 };
  runner = new DeliveryRunner(pending, target, new NoTrace(), small, 'Switchhook/test');
  pending.taken = aTakenDelivery({ immediate: true });
  let nested: unknown;
  target.whilePosting = async () => {
    target.whilePosting = () => Promise.resolve();
    nested = await runner.run(job);
  };
  await runner.run(job);
  expect(nested).toMatchObject({ outcome: 'released', backlog: false });
  expect(pending.released).toEqual(['too_many_tests']);
  expect((await runner.run(job)).outcome).toBe('succeeded');
});

it('marks what is replayed, and nothing else', async () => {
  await runner.run(job);
  pending.taken = aTakenDelivery({ replayed: true });
  await runner.run(job);
  expect(target.requests.map(({ headers }) => headers['webhook-replayed'])).toEqual([
    undefined,
    'true',
  ]);
});

it('sends the signed body with our name', async () => {
  await runner.run(job);
  expect(target.requests[0]).toMatchObject({
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

it("sends the subscription's own headers, which are none of ours", async () => {
  const { subscription } = aTakenDelivery();
  const headers = { 'X-Api-Key': 'key', 'webhook-id': 'x' };
  const openTarget = () => ({ ...subscription.openTarget(), headers });
  pending.taken = aTakenDelivery({ subscription: { ...subscription, openTarget } });
  await runner.run(job);
  expect(target.requests[0]?.headers).toMatchObject({ 'X-Api-Key': 'key', 'webhook-id': job.id });
});

it('sends nothing, and keeps no slot, while the secrets of the target cannot be read', async () => {
  const { subscription } = aTakenDelivery();
  const openTarget = () => {
    throw new UnreadableSecretError('SECRETS_KEYS has no key');
  };
  pending.taken = aTakenDelivery({ subscription: { ...subscription, openTarget } });
  await expect(runner.run(job)).rejects.toThrow(UnreadableSecretError);
  expect([target.requests, pending.recorded, pending.observed]).toEqual([[], [], []]);
  pending.taken = aTakenDelivery();
  expect((await runner.run(job)).outcome).toBe('succeeded');
});

it("makes the next attempt, or none, by the subscription's own policy", async () => {
  target.answer = { status: 500 };
  const { subscription } = aTakenDelivery();
  const withPolicy = (retry: RetryPolicy, attempt: number) =>
    aTakenDelivery({ attempt, subscription: { ...subscription, retry } });
  for (const taken of [
    withPolicy({ schedule: [100], timeoutMs: 2_000 }, 1),
    withPolicy({ schedule: [100] }, 2),
    withPolicy({ timeoutMs: 20_000 }, 2),
  ]) {
    pending.taken = taken;
    await runner.run(job);
  }
  const within = (ms: number): unknown =>
    expect.toSatisfy((delay: number) => delay >= ms * 0.8 && delay <= ms * 1.2);
  expect(pending.recorded.map(({ conclusion }) => conclusion)).toEqual([
    { state: 'pending', delayMs: within(100_000) },
    { state: 'exhausted', reason: 'no_attempts_left' },
    { state: 'pending', delayMs: within(20_000) },
  ]);
  const configured = config.DELIVERY_TIMEOUT_MS;
  expect(target.requests.map(({ timeoutMs }) => timeoutMs)).toEqual([2_000, configured, 20_000]);
});
