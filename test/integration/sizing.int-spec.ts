import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { eventually } from '#tools/eventually';
import { createUser } from '../support/accounts.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { type Client, clientOf } from '../support/http.js';
import { startApi, startWorker } from '../support/processes.js';
import { type Receiver, startReceiver } from '../support/receiver.js';
import type { ServiceProcess } from '../support/service-process.js';

const BATCHES = 40;
const IN_A_BATCH = 100;
const EVENTS = BATCHES * IN_A_BATCH;
const KIND = { event: 'cdrCreated', resource: 'call' };
/** Updated rows leave space, of which PostgreSQL uses a part again at once. */
const NEARLY_ONE = expect.toSatisfy((ratio: number) => ratio > 0.75 && ratio < 1.25) as number;

let database: TestDatabase;
let api: ServiceProcess;
let worker: ServiceProcess;
let receiver: Receiver;
let platform: Client;
let client: Client;
let accountId: string;

beforeAll(async () => {
  database = await createTestDatabase();
  const environment = { DATABASE_URL: database.url, DELIVERY_ALLOWED_NETWORKS: '127.0.0.0/8' };
  [api, worker] = await Promise.all([startApi(environment), startWorker(environment)]);
  const owner = await createUser(database, 'owner');
  accountId = owner.id;
  client = clientOf(api.url, owner.auth);
  platform = clientOf(api.url, (await createUser(database, 'switch', 'platform')).auth);
  receiver = await startReceiver();
  // A load would use the space of rows that an earlier one has updated.
  const partitions = await database.query<{ name: string }>(
    `SELECT relid::regclass::text AS name FROM pg_partition_tree('deliveries') WHERE isleaf`,
  );
  for (const { name } of partitions) {
    await database.query(`ALTER TABLE ${name} SET (autovacuum_enabled = false)`);
  }
});
afterAll(async () => {
  await Promise.all([api.stop(), worker.stop()]);
  await receiver.close();
  await database.drop();
});

const TABLES = ['events', 'event_keys', 'deliveries', 'attempts'] as const;

/** The bytes of each table, with its indexes. */
async function sizes(): Promise<Record<string, number>> {
  const rows = await database.query<{ name: string; bytes: number }>(
    `SELECT name, sum(pg_total_relation_size(c.oid))::float8 AS bytes
     FROM unnest($1::text[]) AS t(name)
     JOIN pg_class c ON c.relkind = 'r' AND c.relname ~ ('^' || name || '(_[0-9]{8})?$') GROUP BY name`,
    [TABLES],
  );
  return Object.fromEntries(rows.map(({ name, bytes }) => [name, bytes]));
}

/** The bytes that docs/operating/sizing.md has for a row of each table, besides the data of an event. */
function documented(): Record<string, number> {
  const page = readFileSync('docs/operating/sizing.md', 'utf8');
  const rows = page.matchAll(/^\| `(\w+)` +\|[^|]*\| +([\d,]+)/gm);
  const bytesOf = new Map<string, number>();
  for (const [, name, bytes] of rows) bytesOf.set(name!, Number(bytes!.replace(',', '')));
  return Object.fromEntries(bytesOf);
}

it.each([
  { deliveries: 1, dataBytes: 200 },
  { deliveries: 1, dataBytes: 1_000 },
  { deliveries: 3, dataBytes: 200 },
])(
  'docs/operating/sizing.md has the bytes that are stored with %o',
  async (load) => {
    const subscriptions: string[] = [];
    for (let n = 0; n < load.deliveries; n += 1) {
      const targetUrl = `${receiver.url}/${n}`;
      const made = await client.post('/v1/webhooks', { ...KIND, targetUrl });
      subscriptions.push(new URL(made.json<{ href: string }>().href).pathname);
    }
    const before = await sizes();
    const arrived = receiver.received.length;
    for (let batch = 0; batch < BATCHES; batch += 1) {
      const events = Array.from({ length: IN_A_BATCH }, (_, n) => ({
        ...{ ...KIND, accountId, id: `cdr-${load.deliveries}${load.dataBytes}-${batch}-${n}` },
        data: { text: 'x'.repeat(load.dataBytes - '{"text":""}'.length) },
      }));
      expect((await platform.post('/v1/events/batch', { events })).status).toBe(202);
    }
    await receiver.until(({ length }) => length === arrived + load.deliveries * EVENTS, 60_000);
    const unfinished = () =>
      database.query(`SELECT FROM deliveries WHERE state = 'pending' LIMIT 1`);
    await eventually(unfinished, ({ length }) => length === 0);
    const after = await sizes();
    const each = documented();
    const expected = {
      events: each.events! + load.dataBytes,
      event_keys: each.event_keys!,
      deliveries: each.deliveries! * load.deliveries,
      attempts: each.attempts! * load.deliveries,
    };
    for (const table of TABLES) {
      const measured = (after[table]! - before[table]!) / EVENTS;
      expect([table, measured / expected[table]]).toEqual([table, NEARLY_ONE]);
    }
    for (const path of subscriptions) await client.delete(path);
  },
  120_000,
);
