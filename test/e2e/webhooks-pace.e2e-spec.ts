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
import { type InProcess, workerInProcess } from '../support/in-process.js';
import { type Receiver, startReceiver } from '../support/receiver.js';

const WORKERS = 3;
const CONCURRENCY = 8;

let demo: DemoAccount;
let workers: InProcess[];
let receiver: Receiver;
let platform: Client;

beforeAll(async () => {
  const environment = {
    DELIVERY_ALLOWED_NETWORKS: '127.0.0.0/8',
    DELIVERY_CONCURRENCY: String(CONCURRENCY),
  };
  demo = await startDemoAccount(environment);
  const ofWorker = {
    ...environment,
    DATABASE_URL: demo.database.url,
    DELIVERY_RETRY_SCHEDULE: '100ms,100ms,1h',
  };
  workers = [];
  for (let n = 0; n < WORKERS; n += 1) workers.push(await workerInProcess(ofWorker));
  platform = clientOf(demo.api.url, (await createUser(demo.database, 'switch', 'platform')).auth);
});
afterAll(async () => {
  for (const worker of workers) await worker.stop();
  await demo.stop();
});
beforeEach(async () => {
  receiver = await startReceiver();
});
afterEach(() => receiver.close());

/** Reports events with the numbers from 0, in one request. */
async function report(count: number): Promise<void> {
  const events = Array.from({ length: count }, (_, n) => {
    return { event: 'cdrCreated', resource: 'call', accountId: demo.id, data: { n } };
  });
  const answer = await platform.post('/v1/events/batch', { events });
  expect(answer.status).toBe(202);
}

const numberOf = ({ body }: { body: string }) =>
  (JSON.parse(body) as { data: { n: number } }).data.n;
const numbers = () => receiver.received.map(numberOf);
const upTo = (count: number) => Array.from({ length: count }, (_, n) => n);

async function healthOf(path: string): Promise<Schemas['Webhook']['health']> {
  return (await demo.client.get(path)).json<Schemas['Webhook']>().health;
}

/** Newest first. */
async function deliveriesOf(path: string): Promise<Schemas['Delivery'][]> {
  return (await demo.client.get(`${path}/deliveries?limit=1000`)).json();
}

describe('maxPerSecond', () => {
  const RATE = 20;

  it(`holds within 10 % over ${WORKERS} workers, and is shown while deliveries wait for it`, async () => {
    const path = await demo.aSubscription({ targetUrl: receiver.url, maxPerSecond: RATE });
    await report(5 * RATE);
    const health = await eventually(
      () => healthOf(path),
      (shown) => shown?.pacedUntil !== undefined,
    );
    expect(health).toMatchObject({ state: 'ok', pacedBy: 'maxPerSecond' });
    await receiver.until(({ length }) => length === 5 * RATE);
    const times = receiver.received.map(({ at }) => at);
    const seconds = (times.at(-1)! - times[0]!) / 1_000;
    const perSecond = (times.length - 1) / seconds;
    expect(perSecond).toBeGreaterThan(0.9 * RATE);
    expect(perSecond).toBeLessThan(1.1 * RATE);
    await eventually(
      () => healthOf(path),
      (shown) => shown?.pacedBy === undefined,
    );
    const attempts = async () => (await deliveriesOf(path)).map((delivery) => delivery.attempts);
    await eventually(attempts, (counts) => counts.every((count) => count === 1));
  });

  it('lets deliveries through that waited when it is taken away', async () => {
    const path = await demo.aSubscription({ targetUrl: receiver.url, maxPerSecond: 1 });
    await report(20);
    expect((await demo.client.put(path, { maxPerSecond: null })).status).toBe(200);
    // At that rate, it would take 19 s.
    await receiver.until(({ length }) => length === 20, 12_000);
  });

  it('does not hold tests', async () => {
    const path = await demo.aSubscription({ targetUrl: receiver.url, maxPerSecond: 1 });
    await report(20);
    await receiver.until(({ length }) => length > 0);
    expect((await demo.client.post(`${path}/test`)).status).toBe(202);
    await receiver.until((received) => received.some(({ body }) => !body.includes('"n":')));
    expect(receiver.received.length).toBeLessThan(15);
  });
});

it(`maxConcurrent holds over ${WORKERS} workers, and is shown while deliveries wait for it`, async () => {
  let inFlight = 0;
  let most = 0;
  receiver.answering = (_, response) => {
    most = Math.max(most, (inFlight += 1));
    setTimeout(() => {
      inFlight -= 1;
      response.writeHead(200).end();
    }, 100);
  };
  const path = await demo.aSubscription({ targetUrl: receiver.url, maxConcurrent: 2 });
  await report(30);
  await eventually(
    () => healthOf(path),
    (shown) => shown?.pacedBy === 'maxConcurrent',
  );
  await receiver.until(({ length }) => length === 30);
  expect(most).toBe(2);
});

describe('ordered', () => {
  it('sends one at a time in the order of acceptance, and holds the others while one fails', async () => {
    const other = await startReceiver();
    let inFlight = 0;
    let most = 0;
    receiver.answering = (received, response) => {
      most = Math.max(most, (inFlight += 1));
      const earlier = receiver.received.filter(({ id }) => id === received.id).length - 1;
      setTimeout(() => {
        inFlight -= 1;
        response.writeHead(numberOf(received) % 5 === 0 && earlier < 2 ? 500 : 200).end();
      }, 5);
    };
    await demo.aSubscription({ targetUrl: receiver.url, ordered: true });
    // The batch creates the deliveries of both subscriptions.
    const unordered = { ...minimalSubscription, targetUrl: other.url };
    expect((await demo.client.post('/v1/webhooks', unordered)).status).toBe(200);
    await report(20);
    await receiver.until(() => new Set(numbers()).size === 20);
    await other.until(({ length }) => length === 20);
    expect(numbers()).toEqual(upTo(20).flatMap((n) => (n % 5 === 0 ? [n, n, n] : [n])));
    expect(most).toBe(1);
    await other.close();
  });

  it('is shown while one waits for its retry, and goes on when that is cancelled', async () => {
    receiver.answering = (received, response) =>
      void response.writeHead(numberOf(received) === 0 ? 500 : 200).end();
    const path = await demo.aSubscription({ targetUrl: receiver.url, ordered: true });
    await report(5);
    await receiver.until(({ length }) => length === 3);
    const health = await eventually(
      () => healthOf(path),
      // A verdict is stored a second later if the row of the subscription is locked.
      (shown) => shown?.state === 'failing' && shown.pacedBy !== undefined,
    );
    expect(health).toMatchObject({ state: 'failing', pacedBy: 'ordered' });
    const [first] = (await deliveriesOf(path)).reverse();
    expect(Date.parse(first!.nextAttemptAt!)).toBeGreaterThan(Date.now() + 2_000_000);
    expect(numbers()).toEqual([0, 0, 0]);
    expect((await demo.client.post(`/v1/deliveries/${first!.id}/cancel`)).status).toBe(200);
    await receiver.until(({ length }) => length === 7);
    expect(numbers()).toEqual([0, 0, 0, 1, 2, 3, 4]);
  });

  it('sends what is redelivered before later ones that wait', async () => {
    receiver.answering = (_, response) => void setTimeout(() => response.writeHead(200).end(), 200);
    const path = await demo.aSubscription({ targetUrl: receiver.url, ordered: true });
    await report(12);
    await receiver.until(({ length }) => length === 2);
    const [first] = (await deliveriesOf(path)).reverse();
    expect((await demo.client.post(`/v1/deliveries/${first!.id}/redeliver`)).status).toBe(202);
    await receiver.until(({ length }) => length === 13);
    expect(numbers().filter((n) => n > 0)).toEqual(upTo(12).slice(1));
    expect(numbers().lastIndexOf(0)).toBeLessThan(12);
  });
});

describe('the fields', () => {
  const pace = { maxPerSecond: 10, maxConcurrent: CONCURRENCY, ordered: true };

  it('are shown if set, and cleared with null', async () => {
    const path = await demo.aSubscription({ targetUrl: receiver.url, ...pace });
    expect(await demo.shown(path)).toMatchObject(pace);
    const cleared = { maxPerSecond: null, maxConcurrent: null, ordered: null };
    expect((await demo.client.put(path, cleared)).status).toBe(200);
    for (const field of Object.keys(pace)) expect(await demo.shown(path)).not.toHaveProperty(field);
  });

  const BEYOND = `must be at most ${CONCURRENCY}, the limit of this installation`;
  it.each([
    [0, 'range', 'must be at least 1'],
    [CONCURRENCY + 1, 'not_allowed', BEYOND],
    [1_001, 'not_allowed', BEYOND],
  ])('maxConcurrent of %i is refused as %s, and the limit named', async (given, code, says) => {
    const path = await demo.aSubscription();
    const body = { maxConcurrent: given };
    const answers = [
      await demo.client.post('/v1/webhooks', { ...minimalSubscription, ...body }),
      await demo.client.put(path, body),
    ];
    const errors = [{ field: 'maxConcurrent', code, message: `maxConcurrent ${says}.` }];
    for (const answer of answers) {
      expect(answer.json<Schemas['Problem']>().errors).toEqual(errors);
    }
  });

  it.each([
    [{ maxPerSecond: 0 }, 'range'],
    [{ maxPerSecond: 1_001 }, 'range'],
    [{ maxPerSecond: 1.5 }, 'type'],
    [{ maxPerSecond: '10' }, 'type'],
    [{ ordered: 'true' }, 'type'],
  ])('%j is refused', async (fields, code) => {
    const field = Object.keys(fields)[0]!;
    const expected = [`${field} ${code}`];
    const created = await demo.client.post('/v1/webhooks', {
      ...minimalSubscription,
      ...fields,
    });
    expect(faultsOf(created)).toEqual(expected);
    const path = await demo.aSubscription({ targetUrl: receiver.url });
    expect(faultsOf(await demo.client.put(path, fields))).toEqual(expected);
  });
});
