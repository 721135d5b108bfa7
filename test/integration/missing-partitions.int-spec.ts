import type { NestExpressApplication } from '@nestjs/platform-express';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { eventually } from '#tools/eventually';
import { createUser } from '../support/accounts.js';
import { apiInProcess, type Running, workerInProcess } from '../support/in-process.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { type Client, clientOf } from '../support/http.js';
import { type Receiver, startReceiver } from '../support/receiver.js';

const LOOPBACK = { DELIVERY_ALLOWED_NETWORKS: '127.0.0.0/8' };

let database: TestDatabase;
let app: NestExpressApplication;
let worker: Running;
let receiver: Receiver;
let platform: Client;
let customer: Client;
let accountId: string;

beforeAll(async () => {
  database = await createTestDatabase();
  receiver = await startReceiver();
  const operator = await createUser(database, 'switch', 'platform');
  const owner = await createUser(database, 'customer');
  accountId = owner.id;
  let base: string;
  ({ app, url: base } = await apiInProcess({ DATABASE_URL: database.url, ...LOOPBACK }));
  platform = clientOf(base, operator.auth);
  customer = clientOf(base, owner.auth);
  worker = await workerInProcess({ DATABASE_URL: database.url, ...LOOPBACK });
});
afterAll(async () => {
  await worker.stop();
  await app.close();
  await receiver.close();
  await database.drop();
});

/**
 * The state after the week of prepared partitions: the machine slept, or its clock was set forward.
 */
async function losePartitions(...parents: string[]): Promise<void> {
  const partitions = await database.query<{ name: string }>(
    `SELECT inhrelid::regclass AS name FROM pg_inherits WHERE inhparent = ANY ($1::regclass[])`,
    [`{${parents.join()}}`],
  );
  for (const { name } of partitions) await database.query(`DROP TABLE ${name}`);
}

const anEvent = () => ({ event: 'cdrCreated', resource: 'call', accountId, data: {} });
const report = () => platform.post('/v1/events', anEvent());

async function aSubscription(path = '/'): Promise<string> {
  const wanted = { event: 'cdrCreated', resource: 'all', targetUrl: receiver.url + path };
  const answer = await customer.post('/v1/webhooks', wanted);
  return new URL(answer.json<{ href: string }>().href).pathname;
}

it('accepts events and makes tests once the partitions are there, and answers 503 until then', async () => {
  const path = await aSubscription();
  const test = () => customer.post(`${path}/test`);
  await database.query('ALTER FUNCTION ensure_partitions(integer) RENAME TO gone');
  await losePartitions('events', 'deliveries', 'attempts');
  for (const { status, headers } of [await report(), await test()]) {
    expect([status, headers['retry-after']]).toEqual([503, '5']);
  }
  await database.query('ALTER FUNCTION gone(integer) RENAME TO ensure_partitions');
  await eventually(report, ({ status }) => status === 202);
  expect((await test()).status).toBe(202);
});

it('records an attempt whose partition is missing, and calls the target once', async () => {
  await aSubscription('/recorded');
  receiver.answering = ({ path }, response) =>
    void losePartitions(...(path === '/recorded' ? ['attempts'] : [])).then(() => response.end());
  const accepted = await eventually(report, ({ status }) => status === 202);
  const { href } = accepted.json<{ href: string }>();
  const event = await eventually(
    async () => (await customer.get(new URL(href).pathname)).json<{ deliveries: Delivery[] }>(),
    ({ deliveries }) => deliveries.every(({ state }) => state === 'succeeded'),
  );
  expect(event.deliveries.map(({ attempts }) => attempts)).toContain(1);
  expect(receiver.received.filter(({ path }) => path === '/recorded')).toHaveLength(1);
});

interface Delivery {
  state: string;
  attempts: number;
}
