import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Schemas } from '#libs/client';
import { eventually } from '#tools/eventually';
import { createUser } from '../support/accounts.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { type Client, clientOf } from '../support/http.js';
import { apiInProcess, type Running, workerInProcess } from '../support/in-process.js';
import { type Receiver, startReceiver } from '../support/receiver.js';

type History = Schemas['AttemptHistory'];

let database: TestDatabase;
let api: Running;
let worker: Running;
let receiver: Receiver;
let platform: Client;
let owner: { id: string; auth: string };
let client: Client;
let webhook: string;

beforeAll(async () => {
  database = await createTestDatabase();
  const environment = {
    DATABASE_URL: database.url,
    DELIVERY_ALLOWED_NETWORKS: '127.0.0.0/8',
    DELIVERY_RETRY_SCHEDULE: '50ms,1h',
  };
  [api, worker, receiver, owner] = await Promise.all([
    apiInProcess(environment),
    workerInProcess(environment),
    startReceiver(),
    createUser(database, 'owner'),
  ]);
  platform = clientOf(api.url, (await createUser(database, 'switch', 'platform')).auth);
  client = clientOf(api.url, owner.auth);
  const body = { event: 'cdrCreated', resource: 'all', targetUrl: receiver.url };
  webhook = new URL((await client.post('/v1/webhooks', body)).json<{ href: string }>().href)
    .pathname;
});
afterAll(async () => {
  await Promise.all([api.stop(), worker.stop()]);
  await receiver.close();
  await database.drop();
});

const historyOf = async (as: Client, query = '') =>
  (await as.get(`/v1/stats${query}`)).json<History>();

describe("an account's attempts", () => {
  it('are counted over all processes that end in order', async () => {
    receiver.answering = (request, response) => {
      response.writeHead(String(request.headers['webhook-id']) === first ? 500 : 204).end();
    };
    const first = (await client.post(`${webhook}/test`)).json<{ href: string }>().href.slice(-36);
    await client.post(`${webhook}/test`);
    await eventually(
      () => client.get('/v1/deliveries?state=succeeded'),
      (answer) => answer.json<object[]>().length === 1,
    );
    // It stores what it has counted when it stops.
    await worker.stop();
    const history = await historyOf(client);
    expect(history).toMatchObject({ attempts: 2, outcomes: { '2xx': 1, '5xx': 1 } });
    expect(history.answerMs!.p99).toBeGreaterThan(0);
    const sum = history.buckets.reduce((all, { attempts }) => all + attempts, 0);
    expect(sum).toBe(2);
  });

  it('are shown for each subscription, with those of the last day', async () => {
    const plain = (await client.get(`${webhook}/stats`)).json<Schemas['DeliveryStatistics']>();
    expect(plain).toMatchObject({ attempts: 2 });
    expect(plain).not.toHaveProperty('history');
    const { history } = (await client.get(`${webhook}/stats?buckets=2`)).json<
      Schemas['DeliveryStatistics']
    >();
    expect(history).toMatchObject({ attempts: 2, outcomes: { '2xx': 1, '5xx': 1 } });
    expect(history!.buckets).toHaveLength(2);
    expect(history!.before).toMatchObject({ attempts: 0, until: history!.since });
  });

  it('are shown in the list of subscriptions if it asks for activity', async () => {
    const [shown] = (await client.get('/v1/webhooks?include=activity')).json<
      Schemas['Webhook'][]
    >();
    expect(shown!.activity).toMatchObject({ succeeded: 1, failed: 1 });
    const [newest] = (await client.get('/v1/deliveries?limit=1')).json<Schemas['Delivery'][]>();
    expect(shown!.activity!.lastDeliveryAt).toBe(newest!.createdAt);
  });

  it('are shown to the platform, and to no other account', async () => {
    const stranger = clientOf(api.url, (await createUser(database, 'stranger')).auth);
    const ofOwner = `?accountId=${owner.id}`;
    expect(await historyOf(platform, ofOwner)).toMatchObject({ attempts: 2 });
    expect(await historyOf(platform)).toMatchObject({ attempts: 0 });
    expect(await historyOf(stranger, ofOwner)).toMatchObject({ attempts: 0, outcomes: {} });
    expect(await historyOf(client, ofOwner)).toMatchObject({ attempts: 2 });
    expect((await platform.get(`${webhook}/stats${ofOwner}`)).json()).toMatchObject({
      attempts: 2,
    });
    for (const [as, query] of [
      [platform, ''],
      [stranger, ofOwner],
    ] as const) {
      expect((await as.get(`${webhook}/stats${query}`)).status).toBe(404);
    }
  });

  it('are shown to operators for all accounts together', async () => {
    const all = (query = '') => platform.get(`/v1/overview/stats${query}`);
    expect((await all()).json()).toMatchObject({ attempts: 2, outcomes: { '2xx': 1, '5xx': 1 } });
    expect((await all('?buckets=3')).json<History>().buckets).toHaveLength(3);
    expect((await all('?buckets=0')).status).toBe(400);
    expect((await client.get('/v1/overview/stats')).status).toBe(403);
    // Nor as those of an account.
    for (const accountId of [-1, 0]) {
      for (const as of [client, platform]) {
        expect(await historyOf(as, `?accountId=${accountId}`)).toMatchObject({ attempts: 0 });
      }
    }
  });

  it('are refused for a range that is too long, or ends before it begins', async () => {
    const long = await client.get('/v1/stats?since=2020-01-01T00:00:00Z');
    expect(long.json()).toMatchObject({ errors: [{ field: 'since', code: 'range' }] });
    const ended = await client.get(
      '/v1/stats?since=2026-01-02T00:00:00Z&until=2026-01-01T00:00:00Z&buckets=0',
    );
    expect(ended.json()).toMatchObject({ errors: [{ field: 'buckets', code: 'range' }] });
  });
});
