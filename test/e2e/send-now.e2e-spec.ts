import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Schemas } from '#libs/client';
import { eventually } from '#tools/eventually';
import { createUser } from '../support/accounts.js';
import { type DemoAccount, startDemoAccount } from '../support/demo-account.js';
import { type Answer, type Client, clientOf } from '../support/http.js';
import { type InProcess, workerInProcess } from '../support/in-process.js';
import { type Receiver, startReceiver } from '../support/receiver.js';

type Delivery = Schemas['DeliveryWithAttempts'];

const loopback = { DELIVERY_ALLOWED_NETWORKS: '127.0.0.0/8' };
const SINCE = { since: new Date(Date.now() - 3_600_000).toISOString() };
/** Longer than a due delivery takes to be found and sent. */
const A_LITTLE_MS = 1_500;

let demo: DemoAccount;
let worker: InProcess;
let receiver: Receiver;
let platform: Client;
let stranger: Client;
let webhook: string;

beforeAll(async () => {
  demo = await startDemoAccount(loopback);
  worker = await workerInProcess({
    DATABASE_URL: demo.database.url,
    ...loopback,
    DELIVERY_RETRY_SCHEDULE: '1h,2h',
  });
  platform = clientOf(demo.api.url, (await createUser(demo.database, 'switch', 'platform')).auth);
  stranger = clientOf(demo.api.url, (await createUser(demo.database, 'stranger')).auth);
});
afterAll(async () => {
  await worker.stop();
  await demo.stop();
});
beforeEach(async () => {
  receiver = await startReceiver();
  webhook = await demo.aSubscription({ targetUrl: receiver.url });
});
afterEach(async () => {
  await demo.client.delete(webhook);
  await receiver.close();
});

const fails = () => {
  receiver.answering = (_, response) => response.writeHead(500).end();
};
const succeeds = () => {
  receiver.answering = (_, response) => response.end();
};

/** @returns the path of the delivery of a new event */
async function aDelivery(): Promise<string> {
  const event = { event: 'cdrCreated', resource: 'call', accountId: demo.id, data: {} };
  const { id } = (await platform.post('/v1/events', event)).json<Schemas['AcceptedEvent']>();
  const shown = (await demo.client.get(`/v1/events/${id}`)).json<Schemas['EventReport']>();
  return new URL(shown.deliveries[0]!.href).pathname;
}

/** A delivery whose first attempt failed, so that the next is due in an hour. */
async function aFailedDelivery(): Promise<Delivery & { path: string }> {
  fails();
  const path = await aDelivery();
  return { path, ...(await until(path, { state: 'pending', attempts: 1 })) };
}

const shown = async (path: string): Promise<Delivery> => (await demo.client.get(path)).json();

const until = (path: string, wanted: Partial<Delivery>): Promise<Delivery> =>
  eventually(
    () => shown(path),
    (now) => Object.entries(wanted).every(([key, value]) => now[key as keyof Delivery] === value),
  );

async function send(path: string): Promise<void> {
  const answer = await demo.client.post(`${path}/send`);
  const address = demo.api.url + path;
  expect([answer.status, answer.json(), answer.headers.location]).toEqual([
    202,
    { href: address },
    address,
  ]);
}

async function refusal(answer: Promise<Answer>): Promise<unknown[]> {
  const { status, json } = await answer;
  return [status, json()['code']];
}

describe('sending one delivery now', () => {
  it('tries one that waits at once, any number of times, and keeps its schedule', async () => {
    const { path, nextAttemptAt } = await aFailedDelivery();
    // More often than the schedule has attempts.
    for (const attempts of [2, 3, 4]) {
      await send(path);
      expect(await until(path, { attempts })).toMatchObject({ state: 'pending', nextAttemptAt });
    }
    await demo.database.query('UPDATE deliveries SET next_attempt_at = now()');
    const last = await until(path, { attempts: 5 });
    const inHours = (Date.parse(last.nextAttemptAt!) - Date.now()) / 3_600_000;
    expect([last.state, inHours > 1.5]).toEqual(['pending', true]);
    succeeds();
    await send(path);
    await until(path, { state: 'succeeded', attempts: 6 });
  });

  it.each([
    ['paused', 'paused = true'],
    ['held', "hold_until = now() + interval '1 h'"],
    ['behind an open circuit', "open_until = now() + interval '1 h', failures = 10"],
  ])('sends one whose subscription is %s, and no other', async (_, blocked) => {
    await demo.database.query(`UPDATE webhooks SET ${blocked}, failing_since = now()`);
    const [path, other] = [await aDelivery(), await aDelivery()];
    await until(path, { state: 'parked' });
    fails();
    await send(path);
    await until(path, { state: 'parked', attempts: 1 });
    succeeds();
    await sleep(A_LITTLE_MS);
    expect(receiver.received).toHaveLength(1);
    expect((await shown(other)).attempts).toBe(0);
    await send(path);
    await until(path, { state: 'succeeded', attempts: 2 });
  });

  it('starts a finished one anew, with a full schedule', async () => {
    const path = await aDelivery();
    await until(path, { state: 'succeeded' });
    fails();
    await send(path);
    await until(path, { state: 'pending', attempts: 2 });
    await demo.client.post(`${path}/cancel`);
    succeeds();
    await send(path);
    await until(path, { state: 'succeeded', attempts: 3 });
  });

  it('leaves one in flight to the attempt that is being made', async () => {
    let answer = (): void => undefined;
    receiver.answering = (_, response) => {
      answer = () => response.writeHead(500).end();
    };
    const path = await aDelivery();
    await receiver.until((received) => received.length === 1);
    await send(path);
    await sleep(A_LITTLE_MS);
    answer();
    const { nextAttemptAt } = await until(path, { state: 'pending', attempts: 1 });
    expect(Date.parse(nextAttemptAt!)).toBeGreaterThan(Date.now() + 1_800_000);
    expect(receiver.received).toHaveLength(1);
  });

  it('is refused while the subscription is disabled or deleted, whatever the state', async () => {
    const inactive = [409, 'subscription_inactive'];
    const { path } = await aFailedDelivery();
    await demo.client.put(webhook, { enabled: false });
    expect(await refusal(demo.client.post(`${path}/send`))).toEqual(inactive);
    await until(path, { state: 'cancelled' });
    expect(await refusal(demo.client.post(`${path}/send`))).toEqual(inactive);
    await demo.client.put(webhook, { enabled: true });
    succeeds();
    await send(path);
    await until(path, { state: 'succeeded' });
    await demo.client.delete(webhook);
    expect(await refusal(demo.client.post(`${path}/send`))).toEqual(inactive);
  });

  it('is allowed twenty times an hour, and only to the owner', async () => {
    await demo.client.post(`${webhook}/pause`);
    const path = await aDelivery();
    fails();
    for (let times = 0; times < 20; times += 1) await send(path);
    const limited = await demo.client.post(`${path}/send`);
    expect([limited.status, limited.json()['code']]).toEqual([429, 'rate_limited']);
    expect(Number(limited.headers['retry-after'])).toBeGreaterThan(3_000);
    for (const other of [stranger, platform]) {
      expect(await refusal(other.post(`${path}/send`))).toEqual([404, 'not_found']);
    }
  });
});

describe('sending many deliveries now', () => {
  const PATH = '/v1/deliveries/send';

  const count = async (body: object = {}) =>
    (await demo.client.post(PATH, { ...SINCE, ...body, dryRun: true })).json();

  async function sendMany(body: object = {}): Promise<Schemas['Replay']> {
    const answer = await demo.client.post(PATH, { ...SINCE, ...body });
    expect([answer.status, answer.text]).toEqual([202, expect.any(String)]);
    const replay = new URL(answer.headers.location!).pathname;
    return eventually(
      async () => (await demo.client.get(replay)).json<Schemas['Replay']>(),
      ({ state }) => state === 'completed',
    );
  }

  it('tries those that wait, with their schedules kept, and redelivers finished ones', async () => {
    const waiting = [await aFailedDelivery(), await aFailedDelivery()];
    const finished = await aFailedDelivery();
    await demo.client.post(`${finished.path}/cancel`);
    succeeds();
    await until(await aDelivery(), { state: 'succeeded' });
    const webhookId = webhook.split('/').at(-1)!;
    const counted = (now: number) => ({
      ...{ deliveries: now, now, waiting: {}, leftOut: 0, leftOutFor: {} },
    });
    expect(await count({ webhookId })).toEqual(counted(3));
    expect(await count({ webhookId, state: 'pending' })).toEqual(counted(2));
    expect(await count({ webhookId, state: 'succeeded' })).toEqual(counted(1));
    fails();
    expect(await sendMany({ webhookId })).toMatchObject({
      states: ['pending', 'exhausted', 'cancelled'],
      total: 3,
      replayed: 3,
    });
    for (const { path, nextAttemptAt } of waiting) {
      expect(await until(path, { attempts: 2 })).toMatchObject({ state: 'pending', nextAttemptAt });
    }
    const again = await until(finished.path, { attempts: 2 });
    expect(again.nextAttemptAt).not.toBe(finished.nextAttemptAt);
    const replayed = receiver.received.slice(-3).map(({ headers }) => headers['webhook-replayed']);
    expect(replayed.toSorted()).toEqual(['true', undefined, undefined]);
    succeeds();
    expect(await sendMany({ webhookId, state: 'pending' })).toMatchObject({ replayed: 3 });
    for (const { path } of [...waiting, finished]) await until(path, { state: 'succeeded' });
  });

  it('sends nothing of a subscription that is paused until it is resumed', async () => {
    const { path } = await aFailedDelivery();
    await demo.client.post(`${webhook}/pause`);
    succeeds();
    const sending = sendMany({ webhookId: webhook.split('/').at(-1)! });
    await sleep(A_LITTLE_MS);
    expect(receiver.received).toHaveLength(1);
    await demo.client.post(`${webhook}/resume`);
    expect(await sending).toMatchObject({ total: 1, replayed: 1 });
    await until(path, { state: 'succeeded', attempts: 2 });
  });

  it('refuses faulty filters, and other methods', async () => {
    const faulty = await demo.client.post(PATH, { until: 'soon', state: 'parked', status: 'x' });
    const faults = faulty.json<{ errors: { field: string }[] }>().errors.map(({ field }) => field);
    expect([faulty.status, faults]).toEqual([400, ['since', 'until', 'state', 'status']]);
    for (const method of ['get', 'put', 'delete'] as const) {
      const { status, headers } = await demo.client[method](PATH, {});
      expect([method, status, headers.allow]).toEqual([method, 405, 'POST']);
    }
  });
});
