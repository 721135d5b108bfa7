import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Schemas } from '#libs/client';
import { eventually } from '#tools/eventually';
import { createUser } from '../support/accounts.js';
import { type DemoAccount, startDemoAccount } from '../support/demo-account.js';
import { type Client, clientOf } from '../support/http.js';
import { workerInProcess, type InProcess } from '../support/in-process.js';
import { type Receiver, startReceiver } from '../support/receiver.js';

let demo: DemoAccount;
let worker: InProcess;
let receiver: Receiver;
let platform: Client;
let stranger: Client;
let path: string;

beforeAll(async () => {
  const loopback = { DELIVERY_ALLOWED_NETWORKS: '127.0.0.0/8' };
  demo = await startDemoAccount(loopback);
  worker = await workerInProcess({
    DATABASE_URL: demo.database.url,
    ...loopback,
    DELIVERY_RETRY_SCHEDULE: '50ms,50ms',
    // One call at a time, so that the order is visible.
    DELIVERY_CONCURRENCY: '1',
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
  path = await demo.aSubscription({ targetUrl: receiver.url });
});
afterEach(() => receiver.close());

async function pause(): Promise<void> {
  expect((await demo.client.post(`${path}/pause`)).status).toBe(200);
}

async function resume(): Promise<void> {
  expect((await demo.client.post(`${path}/resume`)).status).toBe(200);
}

async function report(n: number): Promise<Schemas['EventReport']> {
  const event = { event: 'cdrCreated', resource: 'call', accountId: demo.id, data: { n } };
  const answer = await platform.post('/v1/events', event);
  const { id, deliveries } = answer.json<Schemas['AcceptedEvent']>();
  expect([answer.status, deliveries]).toEqual([202, 1]);
  return (await demo.client.get(`/v1/events/${id}`)).json();
}

async function deliveries(query = ''): Promise<Schemas['Delivery'][]> {
  return (await demo.client.get(`${path}/deliveries${query}`)).json();
}

/** The numbers of the notified events, in the order of their notifications. */
const numbers = () =>
  receiver.received.map(({ body }) => (JSON.parse(body) as { data: { n: number } }).data.n);

describe('a paused subscription', () => {
  it('keeps events as parked deliveries, and sends them oldest first when it is resumed', async () => {
    await pause();
    const reports = [await report(1), await report(2), await report(3)];
    expect(reports.map(({ unmatched }) => unmatched)).toEqual([[], [], []]);
    await sleep(1_200);
    expect(receiver.received).toEqual([]);
    const parked = await deliveries('?state=parked');
    expect(parked.map(({ id }) => id)).toEqual(
      reports.flatMap((event) => event.deliveries.map(({ id }) => id)).reverse(),
    );
    for (const delivery of parked) expect(delivery).not.toHaveProperty('nextAttemptAt');
    expect(await deliveries('?state=pending')).toEqual([]);
    const stats = await demo.shown(`${path}/stats`);
    expect(stats).toMatchObject({ attempts: 0, waiting: { deliveries: 3 } });

    await resume();
    await report(4);
    await receiver.until((received) => received.length === 4);
    expect(numbers()).toEqual([1, 2, 3, 4]);
    await eventually(
      () => deliveries('?state=succeeded'),
      (all) => all.length === 4,
    );
  });

  it('starts no more calls of a backlog, and finishes those in flight', async () => {
    let fail = (): void => undefined;
    receiver.answering = (_, response) => {
      fail = () => response.writeHead(500).end();
    };
    for (const n of [1, 2, 3, 4, 5]) await report(n);
    await receiver.until((received) => received.length === 1);
    await pause();
    // A delivery waits in the worker for an earlier call for up to half a second.
    await sleep(600);
    fail();
    await eventually(deliveries, (all) =>
      all.some(({ state, attempts }) => state === 'parked' && attempts === 1),
    );
    // Neither the others nor the retry, which is due soon.
    await sleep(1_200);
    expect(receiver.received).toHaveLength(1);
    expect(await deliveries('?state=parked')).toHaveLength(5);
    receiver.answering = (_, response) => response.end();
    await resume();
    await eventually(
      () => deliveries('?state=succeeded'),
      (all) => all.length === 5,
    );
  });

  it('still sends tests', async () => {
    await pause();
    const test = await demo.client.post(`${path}/test`);
    expect(test.status).toBe(202);
    await eventually(
      () => deliveries('?state=succeeded'),
      ([delivery]) => delivery?.test === true,
    );
  });

  it('cancels its parked deliveries when it is disabled, and sends nothing when it is resumed', async () => {
    await pause();
    await report(1);
    await demo.client.put(path, { enabled: false });
    expect(await deliveries('?state=cancelled')).toHaveLength(1);
    await resume();
    await demo.client.put(path, { enabled: true });
    await report(2);
    await receiver.until((received) => received.length > 0);
    expect(numbers()).toEqual([2]);
  });
});

describe('pausing and resuming', () => {
  it('answers with the address, and shows `paused` only while it is paused', async () => {
    expect(await demo.shown(path)).not.toHaveProperty('paused');
    for (const [action, paused] of [
      ['pause', true],
      ['resume', undefined],
    ] as const) {
      const answer = await demo.client.post(`${path}/${action}`);
      expect(answer.json()).toEqual({ href: demo.api.url + path });
      expect(answer.headers.location).toBe(demo.api.url + path);
      expect((await demo.shown(path))['paused']).toBe(paused);
    }
  });

  it('counts as a change only if something changes', async () => {
    const state = async () => {
      const { headers, json } = await demo.client.get(path);
      return { etag: headers.etag, updatedAt: json()['updatedAt'] };
    };
    const running = await state();
    await resume();
    expect(await state()).toEqual(running);
    await pause();
    const paused = await state();
    expect(paused.etag).not.toBe(running.etag);
    expect(paused.updatedAt).not.toBe(running.updatedAt);
    await pause();
    expect(await state()).toEqual(paused);
  });

  it('checks the version in If-Match', async () => {
    const { etag } = (await demo.client.get(path)).headers;
    const seen = { headers: { 'if-match': etag! } };
    expect((await demo.client.post(`${path}/pause`, undefined, seen)).status).toBe(200);
    for (const action of ['pause', 'resume']) {
      const answer = await demo.client.post(`${path}/${action}`, undefined, seen);
      expect([answer.status, answer.json()['code']]).toEqual([412, 'precondition_failed']);
    }
  });

  it('works while the subscription is disabled, and for an application-level one', async () => {
    const application = await demo.anApplication();
    path = await demo.aSubscription({ enabled: false }, `${application}/webhooks`);
    await pause();
    expect(await demo.shown(path)).toMatchObject({ enabled: false, paused: true });
  });

  it('cannot be done by a field of POST or PUT', async () => {
    path = await demo.aSubscription({ paused: true });
    expect(await demo.shown(path)).not.toHaveProperty('paused');
    await pause();
    const before = await demo.client.get(path);
    for (const body of [{ paused: false }, { paused: 'x' }, before.text]) {
      expect((await demo.client.put(path, body)).status).toBe(200);
    }
    expect((await demo.client.get(path)).text).toBe(before.text);
  });

  it("finds neither another account's subscription nor a deleted one", async () => {
    for (const action of ['pause', 'resume']) {
      expect((await stranger.post(`${path}/${action}`)).status).toBe(404);
      expect((await demo.client.post(`/v1/webhooks/x/${action}`)).status).toBe(404);
    }
    await demo.client.delete(path);
    expect((await demo.client.post(`${path}/pause`)).status).toBe(404);
  });
});
