import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '#tools/eventually';
import { createUser } from '../support/accounts.js';
import {
  accountWithEverything,
  type Belongings,
  bodiesOf,
  type Installation,
  pathWith,
} from '../support/belongings.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import {
  type ApiDocument,
  DescribedApi,
  type DescribedOperation,
} from '../support/described-api.js';
import { type Answer, basic, type Client, clientOf, send } from '../support/http.js';
import { apiInProcess, type InProcess, workerInProcess } from '../support/in-process.js';

/** The headers that mark a request as a notification. */
const NOTIFICATION = { 'webhook-id': 'x', 'webhook-signature': 'v1,x' };
const ALLOWED = { DELIVERY_ALLOWED_NETWORKS: '127.0.0.0/8' };

let database: TestDatabase;
let api: InProcess;
let installation: Installation;
let described: DescribedApi;

beforeAll(async () => {
  database = await createTestDatabase();
  api = await apiInProcess({ DATABASE_URL: database.url, ...ALLOWED });
  const { auth } = await createUser(database, 'operator', 'platform');
  installation = { database, url: api.url, platform: clientOf(api.url, auth) };
  const { text } = await send('GET', `${api.url}/openapi.json`);
  described = new DescribedApi(JSON.parse(text) as ApiDocument);
});
afterAll(async () => {
  await api.stop();
  await database.drop();
});

const nameOf = ({ operation }: DescribedOperation) => operation.operationId;
const isRefusedByDescription = (one: DescribedOperation) =>
  described.mayRefuseWith(one, 'notification_loop');

describe('a request that is a notification', () => {
  let accounts = 0;

  /** An account whose delivery is finished, and can be redelivered, replayed or created once more. */
  async function anAccount(one: DescribedOperation): Promise<Belongings> {
    accounts += 1;
    const account = await accountWithEverything(installation, `account-${accounts}`);
    await database.query(
      nameOf(one) === 'missedEventsDeliver'
        ? 'DELETE FROM deliveries'
        : `UPDATE deliveries SET state = 'exhausted', completed_at = now(), next_attempt_at = NULL`,
    );
    await database.query('DELETE FROM replays');
    return account;
  }

  function callsOf(one: DescribedOperation, account: Belongings, headers: Record<string, string>) {
    const isForPlatform = described.isForPlatform(one);
    const client: Client = isForPlatform ? installation.platform : account.client;
    const path = pathWith(one, (place) => account.ids.get(place)!);
    const call: Record<string, (body: object | undefined) => Promise<Answer>> = {
      POST: (body) => client.post(path, body, { headers }),
      PUT: (body) => client.put(path, body, { headers }),
      DELETE: () => client.delete(path, { headers }),
    };
    return bodiesOf(described, one, account).map((body) => () => call[one.method]!(body));
  }

  /** How much has been started: events, waiting deliveries, replays and recoveries. */
  async function started(): Promise<number> {
    const [row] = await database.query<{ started: number }>(
      `SELECT ((SELECT count(*) FROM events)
         + (SELECT count(*) FROM deliveries WHERE state = 'pending')
         + (SELECT count(*) FROM replays) + (SELECT count(*) FROM recoveries WHERE visited_at IS NULL))::integer AS started`,
    );
    return row!.started;
  }

  it('starts no notification on any route, and is refused by those that could', async () => {
    const refusing: string[] = [];
    let unchanged: Belongings | undefined;
    for (const one of described.operations.filter(({ method }) => method !== 'GET')) {
      // What is refused changes nothing, so that the next one can use the account, too.
      const isShared = isRefusedByDescription(one) && nameOf(one) !== 'missedEventsDeliver';
      const account = isShared ? (unchanged ??= await anAccount(one)) : await anAccount(one);
      const before = await started();
      const answers: Answer[] = [];
      for (const call of callsOf(one, account, NOTIFICATION)) answers.push(await call());
      const codes = answers.map(({ status, text }) =>
        status === 409 ? (JSON.parse(text) as { code: string }).code : status,
      );
      const isRefused = codes.every((code) => code === 'notification_loop');
      if (isRefused) refusing.push(nameOf(one));
      expect([nameOf(one), isRefused]).toEqual([nameOf(one), isRefusedByDescription(one)]);
      expect([nameOf(one), await started()]).toEqual([nameOf(one), before]);
    }
    expect(refusing.sort()).toEqual([
      'deliveriesRedeliver',
      'deliveriesSend',
      'deliveriesTest',
      'eventsReport',
      'eventsReportBatch',
      'missedEventsDeliver',
      'recoveriesStart',
      'replaysRedeliver',
      'replaysSend',
      'replaysStart',
    ]);
  });

  it('would start one on each of these routes without its headers or with only one of them', async () => {
    const without = [{}, { 'webhook-id': 'x' }, { 'webhook-signature': 'v1,x' }];
    for (const [index, one] of described.operations.filter(isRefusedByDescription).entries()) {
      const account = await anAccount(one);
      const before = await started();
      for (const call of callsOf(one, account, without[index % without.length]!)) await call();
      expect([nameOf(one), (await started()) > before]).toEqual([nameOf(one), true]);
    }
  });
});

it('thirty tests of subscriptions that test each other remain thirty', async () => {
  const SUBSCRIPTIONS = 10;
  const TESTS = 30;
  const { auth } = await createUser(database, 'looping');
  const customer = clientOf(api.url, auth);
  const body = { event: 'cdrCreated', resource: 'all', targetUrl: 'https://hooks.example.com/' };
  const ids: string[] = [];
  for (let made = 0; made < SUBSCRIPTIONS; made += 1) {
    const answer = await customer.post('/v1/webhooks', body);
    ids.push(answer.json<{ href: string }>().href.split('/').at(-1)!);
  }
  for (const [index, id] of ids.entries()) {
    const next = ids[(index + 1) % ids.length]!;
    const targetUrl = `${api.url}/v1/webhooks/${next}/test`;
    const changes = { targetUrl, headers: { Authorization: basic(auth) } };
    expect((await customer.put(`/v1/webhooks/${id}`, changes)).status).toBe(200);
  }
  const worker = await workerInProcess({ DATABASE_URL: database.url, ...ALLOWED });
  try {
    for (let test = 0; test < TESTS; test += 1) {
      const path = `/v1/webhooks/${ids[test % ids.length]!}/test`;
      expect((await customer.post(path)).status).toBe(202);
    }
    const deliveries = () =>
      database.query<{ state: string; status: number }>(
        `SELECT d.state, a.status FROM deliveries d LEFT JOIN attempts a ON a.delivery_id = d.id
         WHERE d.webhook_id = ANY ($1::bigint[])`,
        [ids],
      );
    const ended = await eventually(
      deliveries,
      (found) => found.length > TESTS || found.every(({ state }) => state === 'exhausted'),
    );
    expect(ended).toEqual(Array(TESTS).fill({ state: 'exhausted', status: 409 }));
  } finally {
    await worker.stop();
  }
});
