import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import type { Schemas } from '#libs/client';
import { eventually } from '#tools/eventually';
import { createUser } from '../support/accounts.js';
import { type DemoAccount, startDemoAccount } from '../support/demo-account.js';
import { type Answer, type Client, clientOf } from '../support/http.js';
import { workerInProcess, type InProcess } from '../support/in-process.js';
import type { Environment } from '../support/environment.js';
import { type Receiver, startReceiver } from '../support/receiver.js';

const loopback = { DELIVERY_ALLOWED_NETWORKS: '127.0.0.0/8' };
/** Longer than a due retry takes to be sent, or a due delivery to be found. */
const A_LITTLE_MS = 1_900;

let demo: DemoAccount;
let ofWorker: Environment;
let worker: InProcess;
let receiver: Receiver;
let platform: Client;
let stranger: Client;
let webhook: string;

beforeAll(async () => {
  demo = await startDemoAccount(loopback);
  ofWorker = {
    DATABASE_URL: demo.database.url,
    ...loopback,
    DELIVERY_RETRY_SCHEDULE: '1s,1s',
  };
  worker = await workerInProcess(ofWorker);
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
afterEach(() => receiver.close());

/** @returns the path of the delivery of a new event */
async function aDelivery(): Promise<string> {
  const event = { event: 'cdrCreated', resource: 'call', accountId: demo.id, data: {} };
  const { id } = (await platform.post('/v1/events', event)).json<Schemas['AcceptedEvent']>();
  const shown = (await demo.client.get(`/v1/events/${id}`)).json<Schemas['EventReport']>();
  return new URL(shown.deliveries[0]!.href).pathname;
}

const shown = async (delivery: string) =>
  (await demo.client.get(delivery)).json<Schemas['DeliveryWithAttempts']>();

function until(
  delivery: string,
  wanted: Partial<Schemas['Delivery']>,
): Promise<Schemas['DeliveryWithAttempts']> {
  return eventually(
    () => shown(delivery),
    (now) => Object.entries(wanted).every(([key, value]) => now[key as keyof typeof now] === value),
  );
}

async function cancel(delivery: string): Promise<void> {
  const answer = await demo.client.post(`${delivery}/cancel`);
  const address = demo.api.url + delivery;
  expect([answer.status, answer.json(), answer.headers.location]).toEqual([
    200,
    { href: address },
    address,
  ]);
}

async function refusal(answer: Promise<Answer>) {
  const { status, json } = await answer;
  return [status, json()['code']];
}

/** Makes the receiver hold the next call. @returns a function that answers it */
function holdNextCall(): (status: number) => void {
  let answer = (_: number): void => undefined;
  receiver.answering = (_, response) => {
    answer = (status) => response.writeHead(status).end();
  };
  return (status) => {
    receiver.answering = (_, response) => response.end();
    answer(status);
  };
}

it('cancels a delivery that waits for a retry, and allows redelivery later', async () => {
  receiver.answering = (_, response) => response.writeHead(500).end();
  const delivery = await aDelivery();
  await until(delivery, { state: 'pending', attempts: 1 });
  await cancel(delivery);
  const cancelled = await shown(delivery);
  expect(cancelled).toMatchObject({ state: 'cancelled', reason: 'requested', attempts: 1 });
  expect(cancelled).not.toHaveProperty('nextAttemptAt');
  expect(Date.parse(cancelled.completedAt!)).toBeGreaterThan(Date.parse(cancelled.createdAt));
  await sleep(A_LITTLE_MS);
  expect(receiver.received).toHaveLength(1);
  expect(await shown(delivery)).toEqual(cancelled);
  receiver.answering = (_, response) => response.end();
  expect((await demo.client.post(`${delivery}/redeliver`)).status).toBe(202);
  await until(delivery, { state: 'succeeded', attempts: 2 });
});

it('changes nothing when a delivery is cancelled twice', async () => {
  await demo.client.post(`${webhook}/pause`);
  const delivery = await aDelivery();
  await cancel(delivery);
  const cancelled = await shown(delivery);
  await cancel(delivery);
  expect(await shown(delivery)).toEqual(cancelled);
});

it('cancels a parked delivery', async () => {
  await demo.client.post(`${webhook}/pause`);
  const [unwanted, wanted] = [await aDelivery(), await aDelivery()];
  await cancel(unwanted);
  const { waiting } = await demo.shown(`${webhook}/stats`);
  expect(waiting).toMatchObject({ deliveries: 1 });
  await demo.client.post(`${webhook}/resume`);
  await until(wanted, { state: 'succeeded' });
  expect(receiver.received.map(({ id }) => id)).toEqual([wanted.split('/').at(-1)]);
  expect(await shown(unwanted)).toMatchObject({ state: 'cancelled', reason: 'requested' });
});

it('cancels deliveries and tests that no worker has taken from the queue yet', async () => {
  await worker.stop();
  const test = await demo.client.post(`${webhook}/test`);
  const deliveries = [new URL(test.headers.location ?? '').pathname, await aDelivery()];
  for (const delivery of deliveries) await cancel(delivery);
  worker = await workerInProcess(ofWorker);
  await sleep(A_LITTLE_MS);
  expect(receiver.received).toEqual([]);
  for (const delivery of deliveries) {
    expect(await shown(delivery)).toMatchObject({
      state: 'cancelled',
      attempts: 0,
      attemptLog: [],
    });
  }
});

it("records the failure of a cancelled delivery's call in flight, and does not retry it", async () => {
  const answer = holdNextCall();
  const delivery = await aDelivery();
  await receiver.until((received) => received.length === 1);
  await cancel(delivery);
  expect(await shown(delivery)).toMatchObject({ state: 'cancelled', attempts: 0 });
  // Otherwise the delivery could be in flight twice.
  const again = `${delivery}/redeliver`;
  expect(await refusal(demo.client.post(again))).toEqual([409, 'delivery_not_finished']);
  answer(500);
  const { attemptLog } = await until(delivery, { attempts: 1 });
  expect(attemptLog).toMatchObject([{ number: 1, status: 500 }]);
  await sleep(A_LITTLE_MS);
  expect(receiver.received).toHaveLength(1);
  expect(await shown(delivery)).toMatchObject({ state: 'cancelled', reason: 'requested' });
  await cancel(delivery);
  expect((await demo.client.post(again)).status).toBe(202);
  await until(delivery, { state: 'succeeded' });
});

it("accepts the success of a cancelled delivery's call in flight", async () => {
  const answer = holdNextCall();
  const delivery = await aDelivery();
  await receiver.until((received) => received.length === 1);
  await cancel(delivery);
  answer(200);
  expect(await until(delivery, { state: 'succeeded' })).not.toHaveProperty('reason');
  const finished = [409, 'delivery_finished'];
  expect(await refusal(demo.client.post(`${delivery}/cancel`))).toEqual(finished);
});

it('refuses to cancel a delivery that has ended in another way', async () => {
  const delivery = await aDelivery();
  await until(delivery, { state: 'succeeded' });
  const finished = [409, 'delivery_finished'];
  expect(await refusal(demo.client.post(`${delivery}/cancel`))).toEqual(finished);

  await demo.client.post(`${webhook}/pause`);
  const parked = await aDelivery();
  await demo.client.put(webhook, { enabled: false });
  expect(await refusal(demo.client.post(`${parked}/cancel`))).toEqual(finished);
  await until(parked, { state: 'cancelled', reason: 'disabled' });
  expect(await refusal(demo.client.post(`${parked}/cancel`))).toEqual(finished);
});

it('lets only the owner cancel a delivery', async () => {
  await demo.client.post(`${webhook}/pause`);
  const delivery = await aDelivery();
  for (const client of [stranger, platform]) {
    expect((await client.post(`${delivery}/cancel`)).status).toBe(404);
  }
  expect(await shown(delivery)).toMatchObject({ state: 'parked' });
  const unknown = ['nonsense', '019a0b1c-2d3e-7f40-8a51-b26c73d84e95'];
  for (const id of unknown) {
    expect((await demo.client.post(`/v1/deliveries/${id}/cancel`)).status).toBe(404);
  }
});
