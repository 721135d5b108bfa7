import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createUser } from '../support/accounts.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import {
  ATTACK_MS,
  callsOf,
  MOST_HELD_MS,
  MOST_MB,
  MOST_TIMES,
  p99,
} from '../support/hostility.js';
import { type Client, clientOf } from '../support/http.js';
import { LoopHold } from '../support/loop-hold.js';
import { startApi } from '../support/processes.js';
import { type Request, requestOf, whileSent } from '../support/requests.js';
import type { ServiceProcess } from '../support/service-process.js';

const HEAP_MB = 256;

/** As long as the data of an event may be, less the closing brackets. */
const BYTES = (128 << 10) - 100;
const fill = (unit: string): string => unit.repeat(Math.floor(BYTES / unit.length));
const DEEP = '{"a":'.repeat(4);

/** Data that are costly to judge: the filters read each kind in another way. A body may have 16,384 values. */
const COSTLY = [
  `{${fill('"a":{"a":12345678},')}"a":1}`,
  `${DEEP}{${fill('"a":12345,')}"a":1}}}}}`,
  `{${fill('"\\u0061":1,')}"a":1}`,
  `{${fill('"\\u0061":{"\\u0061":1},')}"a":1}`,
  `{"a":"${fill('\\u0000')}"}`,
  `{"a":"${fill('\\\\')}"}`,
  `{"a":1${fill('0')}1}`,
];

/** A filter of about 4 KB that reads each level of objects in several ways. No event of these meets it. */
function costlyFilter(of: number): object {
  const values = Array.from({ length: 60 }, (_, index) => of * 100 + index + 2);
  const paths = [1, 2, 3, 4, 5].map((names) => Array.from({ length: names }, () => 'a').join('.'));
  const members = paths.flatMap((path): [string, unknown][] => [
    [path, values],
    [`${path.slice(0, -1)}b`, allOperators(5)],
  ]);
  return Object.fromEntries(members);
}

function allOperators(depth: number): object {
  const operators = { gt: 1, gte: 1, lt: 1, lte: 1, prefix: '', exists: true };
  return { ...operators, ...(depth > 1 && { not: allOperators(depth - 1) }) };
}

const APPLICATIONS = 60;
const ACCOUNTS = 9;
/** Events that are stored before, with costly data and with little. */
const STORED = { costly: 150, short: 12_000 };

let database: TestDatabase;
let api: ServiceProcess;
const loop = new LoopHold();
let producer: string;
let bystander: Client;
let application: string;
let hostile: Account;
let others: Account[];
/** A subscription of the hostile account to everything that is stored, and one of those events. */
let subscription: string;
let stored: string;
/** A subscription of its first application. */
let changed: string;

interface Account {
  id: string;
  auth: string;
  client: Client;
  applications: string[];
}

beforeAll(async () => {
  database = await createTestDatabase();
  api = await startApi({
    DATABASE_URL: database.url,
    ...loop.environment(`--max-old-space-size=${HEAP_MB}`),
  });
  producer = (await createUser(database, 'switch', 'platform')).auth;
  bystander = clientOf(api.url, (await createUser(database, 'bystander')).auth);
  const made = await bystander.post('/v1/applications', { name: 'a', voiceUrl: 'http://v/' });
  application = new URL(made.json<{ href: string }>().href).pathname;
  hostile = await accountWithFilters('hostile', APPLICATIONS);
  others = [];
  for (let n = 1; n < ACCOUNTS; n += 1) {
    others.push(await accountWithFilters(`hostile-${n}`, APPLICATIONS / 4));
  }
  stored = (await storeEvents(STORED.costly, COSTLY[2]!, 'costly'))[0]!;
  await storeEvents(STORED.short, '{"a":1}', 'short');
  const path = `/v1/applications/${hostile.applications[0]!}/webhooks`;
  const [first] = (await hostile.client.get(path)).json<{ id: string }[]>();
  changed = `/v1/webhooks/${first!.id}`;
  const created = await hostile.client.post('/v1/webhooks', subscriptionTo('smsdlr'));
  subscription = new URL(created.json<{ href: string }>().href).pathname;
}, 600_000);
afterAll(async () => {
  await api.stop();
  await database.drop();
});

const subscriptionTo = (event: string) => ({
  ...{ event, resource: 'all', targetUrl: 'https://t.example/', filter: costlyFilter(1) },
});

/** An account that has applications with ten subscriptions each, all of them with other filters. */
async function accountWithFilters(username: string, applications: number): Promise<Account> {
  const { id, auth } = await createUser(database, username);
  const client = clientOf(api.url, auth);
  const template = await client.post('/v1/webhooks', subscriptionTo('cdrCreated'));
  expect([template.status, template.text]).toEqual([200, expect.any(String)]);
  const filters = Array.from({ length: 10 * applications }, (_, n) => costlyFilter(n));
  const rows = await database.query<{ id: string }>(
    `WITH apps AS (
       INSERT INTO applications (user_id, name, api_type, voice_url)
       SELECT $1, 'a', 'scripting', 'http://v/' FROM generate_series(1, $2::integer) RETURNING id
     ), numbered AS (
       SELECT id, row_number() OVER () AS n FROM apps
     ), made AS (
       INSERT INTO webhooks (account_id, application_id, event, resource, target_url, enabled, secret, filter,
         filter_id)
       SELECT $1, numbered.id, 'cdrCreated', 'all', 'https://t.example/', true, 'whsec_', f.text, md5(f.text)
       FROM numbered
       CROSS JOIN generate_series(1, 10) m
       CROSS JOIN LATERAL (SELECT ($3::text[])[(numbered.n - 1) * 10 + m] AS text) f
     )
     SELECT id FROM apps`,
    [id, applications, filters.map((filter) => JSON.stringify(filter))],
  );
  return { id, auth, client, applications: rows.map((row) => row.id) };
}

/** @returns the ids of the events */
async function storeEvents(count: number, data: string, name: string): Promise<string[]> {
  const rows = await database.query<{ id: string }>(
    `INSERT INTO events (id, account_id, event, resource, producer_id, occurred_at, created_at, data)
     SELECT new_uuid(now(), n), $1, 'smsdlr', 'sms', $4 || n, now(), now(), $2
     FROM generate_series(1, $3::integer) n RETURNING id`,
    [hostile.id, data, count, name],
  );
  return rows.map(({ id }) => id);
}

const byProducer = (path: string, body: object | string): Request =>
  requestOf(producer, 'POST', path, { body });

const byHostile = (method: string, path: string, body?: object): Request =>
  requestOf(hostile.auth, method, path, body && { body });

const eventOf = (applicationId: string): object => ({
  ...{ event: 'cdrCreated', resource: 'call', data: { a: 1 }, applicationId },
});

/** Batches of events for fifty applications each, until all have had the same number. */
function batchesOf(applications: readonly string[]): Request[] {
  return Array.from({ length: applications.length }, (_, batch) =>
    byProducer('/v1/events/batch', {
      events: Array.from({ length: 50 }, (_, n) =>
        eventOf(applications[(50 * batch + n) % applications.length]!),
      ),
    }),
  );
}

/** What is sent in turns, with this pause between two requests. */
const ATTACKS: [what: string, everyMs: number, requests: () => Request[]][] = [
  [
    'receives events with costly data',
    50,
    () =>
      COSTLY.map((data) =>
        byProducer(
          '/v1/events',
          `{"event":"cdrCreated","resource":"call","accountId":${hostile.id},"data":${data}}`,
        ),
      ),
  ],
  [
    'receives fifty events a second for sixty applications with ten costly filters each',
    1_000,
    () => batchesOf(hostile.applications),
  ],
  [
    'and eight others with many costly filters receive events',
    500,
    () => batchesOf([hostile, ...others].flatMap(({ applications }) => applications)),
  ],
  [
    'changes its filters between events',
    50,
    () =>
      Array.from({ length: 100 }, (_, n) => [
        byHostile('PUT', changed, { filter: costlyFilter(n) }),
        byProducer('/v1/events', eventOf(hostile.applications[0]!)),
      ]).flat(),
  ],
  [
    'shows events for which filters are judged',
    20,
    () => [byHostile('GET', `/v1/events/${stored}`)],
  ],
  [
    'tries filters on costly data',
    300,
    () => [byHostile('POST', `${subscription}/filter/preview`, { filter: costlyFilter(2) })],
  ],
  [
    'asks what its filter made it miss',
    300,
    () => [byHostile('GET', `/v1/events?missedBy=${subscription.split('/').at(-1)!}`)],
  ],
  [
    'counts what its filter made it miss',
    300,
    () => [
      byHostile('POST', `${subscription}/replay`, {
        ...{ missed: true, dryRun: true, since: '2026-01-01T00:00:00Z' },
      }),
    ],
  ],
];

/** How long another account's calls take, while requests are sent in turns. */
async function took(everyMs: number, requests: readonly Request[]): Promise<number[]> {
  const calls: number[] = [];
  const times = Math.ceil(ATTACK_MS / everyMs);
  const answers = await whileSent({ url: api.url, requests, times, everyMs }, async () => {
    calls.push(...(await callsOf(bystander, application, 500)));
  });
  for (const { status, text } of answers) {
    expect([200, 202, 429]).toContain(status);
    if (status === 202) expect(text).not.toContain('"error"');
  }
  return calls;
}

describe('an account that', () => {
  let undisturbed: number;
  beforeAll(async () => {
    await callsOf(bystander, application, 300);
    undisturbed = p99(await callsOf(bystander, application, ATTACK_MS));
  }, 600_000);

  it.each(ATTACKS)('%s delays others hardly', async (what, everyMs, requests) => {
    await loop.longest(api);
    const during = p99(await took(everyMs, requests()));
    const held = await loop.longest(api);
    const memory = api.memory();
    console.log(
      `${what}: p99 undisturbed ${undisturbed.toFixed()} ms, during it ${during.toFixed()} ms; ` +
        `loop held for ${held.toFixed(1)} ms; ${memory.toFixed()} MB`,
    );
    expect(memory).toBeLessThan(MOST_MB);
    expect(during).toBeLessThan(MOST_TIMES * undisturbed);
    expect(held).toBeLessThan(MOST_HELD_MS);
  });
});
