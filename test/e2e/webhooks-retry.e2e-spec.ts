import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Schemas } from '#libs/client';
import { eventually } from '#tools/eventually';
import { createUser } from '../support/accounts.js';
import {
  type DemoAccount,
  faultsOf,
  minimalSubscription,
  startDemoAccount,
} from '../support/demo-account.js';
import { type Client, clientOf } from '../support/http.js';
import { workerInProcess, type InProcess } from '../support/in-process.js';
import { type Receiver, startReceiver } from '../support/receiver.js';

let demo: DemoAccount;
let worker: InProcess;
let receiver: Receiver;
let platform: Client;

beforeAll(async () => {
  const loopback = { DELIVERY_ALLOWED_NETWORKS: '127.0.0.0/8' };
  demo = await startDemoAccount(loopback);
  worker = await workerInProcess({
    DATABASE_URL: demo.database.url,
    ...loopback,
    DELIVERY_RETRY_SCHEDULE: '100ms,1h',
  });
  platform = clientOf(demo.api.url, (await createUser(demo.database, 'switch', 'platform')).auth);
});
afterAll(async () => {
  await worker.stop();
  await demo.stop();
});
beforeEach(async () => {
  receiver = await startReceiver((_, response) => response.writeHead(500).end());
});
afterEach(() => receiver.close());

async function deliveryUntil(
  webhook: string,
  wanted: Partial<Schemas['Delivery']>,
): Promise<Schemas['DeliveryWithAttempts']> {
  const [delivery] = await eventually(
    async () => (await demo.client.get(`${webhook}/deliveries`)).json<Schemas['Delivery'][]>(),
    ([one]) =>
      one !== undefined &&
      Object.entries(wanted).every(([key, value]) => one[key as keyof typeof one] === value),
  );
  return (await demo.client.get(`/v1/deliveries/${delivery!.id}`)).json();
}

async function report(): Promise<void> {
  const event = { event: 'cdrCreated', resource: 'call', accountId: demo.id, data: {} };
  expect((await platform.post('/v1/events', event)).status).toBe(202);
}

describe('a subscription with its own retry policy', () => {
  const exhausted = { state: 'exhausted', reason: 'no_attempts_left' } as const;

  it('is retried by its own schedule, and no more often', async () => {
    const webhook = await demo.aSubscription({ targetUrl: receiver.url, retry: { schedule: [1] } });
    await report();
    const { attemptLog } = await deliveryUntil(webhook, exhausted);
    const [first = 0, second = 0, ...more] = attemptLog.map(({ at }) => Date.parse(at));
    expect(more).toEqual([]);
    expect(second - first).toBeGreaterThanOrEqual(800);
  });

  it('gets one attempt if the schedule is empty', async () => {
    const webhook = await demo.aSubscription({ targetUrl: receiver.url, retry: { schedule: [] } });
    await report();
    expect((await deliveryUntil(webhook, exhausted)).attempts).toBe(1);
  });

  it('uses its own timeout, and retries as configured if it has no schedule', async () => {
    receiver.answering = () => undefined;
    const retry = { timeoutMs: 1_000 };
    const webhook = await demo.aSubscription({ targetUrl: receiver.url, retry });
    await report();
    const { attemptLog } = await deliveryUntil(webhook, { state: 'pending', attempts: 2 });
    for (const { error, durationMs } of attemptLog) {
      expect([error, durationMs >= 1_000 && durationMs < 5_000]).toEqual(['timeout', true]);
    }
  });

  it('uses a changed policy from the next attempt on', async () => {
    const webhook = await demo.aSubscription({ targetUrl: receiver.url });
    await report();
    await deliveryUntil(webhook, { state: 'pending', attempts: 2 });
    await demo.client.put(webhook, { retry: { schedule: [5, 5] } });
    await demo.database.query(
      `UPDATE deliveries SET next_attempt_at = now() WHERE webhook_id = $1`,
      [webhook.split('/').at(-1)],
    );
    expect((await deliveryUntil(webhook, exhausted)).attempts).toBe(3);
  });
});

describe('the field retry', () => {
  const retry = { schedule: [10, 60], timeoutMs: 5_000 };

  it('is shown as stored, and only if it is set', async () => {
    expect(await demo.shown(await demo.aSubscription())).not.toHaveProperty('retry');
    const given = { timeoutMs: 5_000, unknown: 1, schedule: [10, 60] };
    const path = await demo.aSubscription({ retry: given });
    expect((await demo.shown(path))['retry']).toEqual(retry);
    expect(await demo.shown(await demo.aSubscription({ retry: null }))).not.toHaveProperty('retry');
  });

  it('is replaced as a whole, and cleared by null', async () => {
    const path = await demo.aSubscription({ retry });
    await demo.client.put(path, { retry: { schedule: [] } });
    expect((await demo.shown(path))['retry']).toEqual({ schedule: [] });
    await demo.client.put(path, { name: 'x' });
    expect((await demo.shown(path))['retry']).toEqual({ schedule: [] });
    for (const none of [null, {}, [], { schedule: null }]) {
      await demo.client.put(path, { retry });
      expect((await demo.client.put(path, { retry: none })).status).toBe(200);
      expect(await demo.shown(path)).not.toHaveProperty('retry');
    }
  });

  it.each([null, {}, [], { timeoutMs: null }])(
    'is not there if it is given as %j',
    async (none) => {
      expect(await demo.shown(await demo.aSubscription({ retry: none }))).not.toHaveProperty(
        'retry',
      );
    },
  );

  it('raises the version when it changes, and not when it is sent back as shown', async () => {
    const path = await demo.aSubscription({ retry });
    const before = await demo.client.get(path);
    const same = { retry: { timeoutMs: 5_000, schedule: [10, 60] } };
    for (const body of [before.text, same]) {
      expect((await demo.client.put(path, body)).status).toBe(200);
      expect((await demo.client.get(path)).headers.etag).toBe(before.headers.etag);
    }
    await demo.client.put(path, { retry: { schedule: [10, 60] } });
    expect((await demo.client.get(path)).headers.etag).not.toBe(before.headers.etag);
  });

  it.each([
    [{ retry: ['5s'] }, ['retry type']],
    [{ retry: '' }, ['retry type']],
    [{ retry: { delays: [5] } }, ['retry required']],
    [
      { retry: { schedule: [5, 5, 5, 0], timeoutMs: 20_001 }, event: 'x' },
      ['/retry/schedule/3 range', '/retry/timeoutMs range', 'event choice'],
    ],
  ])('is refused with every fault: %j', async (body, faults) => {
    const created = await demo.client.post('/v1/webhooks', { ...minimalSubscription, ...body });
    const updated = await demo.client.put(await demo.aSubscription(), body);
    for (const answer of [created, updated]) expect(faultsOf(answer)).toEqual(faults);
  });
});

describe('the defaults', () => {
  it('are shown as they are configured', async () => {
    const schedule = [5, 30, 300, 1_800, 7_200, 18_000, 36_000, 50_400, 72_000, 86_400];
    const answer = await demo.client.get('/v1/webhooks/defaults');
    expect(answer.json()).toEqual({ retry: { schedule, timeoutMs: 15_000 } });
    const settings = { DELIVERY_RETRY_SCHEDULE: '', DELIVERY_TIMEOUT_MS: '9000' };
    const other = await startDemoAccount(settings);
    try {
      const shown = await other.client.get('/v1/webhooks/defaults');
      expect(shown.json()).toEqual({ retry: { schedule: [], timeoutMs: 9_000 } });
    } finally {
      await other.stop();
    }
  });
});
