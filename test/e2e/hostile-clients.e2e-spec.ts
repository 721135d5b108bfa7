import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createUser } from '../support/accounts.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { basic, type Client, clientOf } from '../support/http.js';
import { residentMb, type RunningProcess, startApi } from '../support/processes.js';
import { connectTo, type RawConnection } from '../support/raw-connection.js';
import { largeSubscriptions } from '../support/rows.js';

/** Heap of the API: a flood kept in memory would end the process. */
const HEAP_MB = 256;
const EVENTS = 50_000;
const ATTEMPTS = 5_000;

let database: TestDatabase;
let api: RunningProcess;
let auth: string;
let delivery: string;
let bystander: Client;
let application: string;
const connections: RawConnection[] = [];

beforeAll(async () => {
  database = await createTestDatabase();
  const hostile = await createUser(database, 'hostile');
  auth = hostile.auth;
  await largeSubscriptions(database, hostile.id, {
    applications: 100,
    payloadBytes: 16_000,
  });
  await database.query(
    `INSERT INTO events (id, account_id, event, resource, test, occurred_at, created_at, data)
     SELECT new_uuid(now(), n), $1, 'smsdlr', 'sms', false, now(), now(), '{}'
     FROM generate_series(1, $2::integer) n`,
    [hostile.id, EVENTS],
  );
  const [row] = await database.query<{ id: string }>(
    `INSERT INTO deliveries (id, event_id, webhook_id, account_id, event, generation, state,
       attempts, created_at, completed_at)
     SELECT new_uuid(now(), 1), e.id, w.id, $1, 'smsdlr', 1, 'exhausted', $2, now(), now()
     FROM (SELECT id FROM events LIMIT 1) e, (SELECT id FROM webhooks LIMIT 1) w RETURNING id`,
    [hostile.id, ATTEMPTS],
  );
  delivery = row!.id;
  await database.query(
    `INSERT INTO attempts (delivery_id, take, number, at, duration_ms, status, response_body)
     SELECT $1, n, n, now(), 1, 500, repeat(chr(1), 4096) FROM generate_series(1, $2::integer) n`,
    [delivery, ATTEMPTS],
  );
  api = await startApi({
    DATABASE_URL: database.url,
    TRUSTED_PROXIES: '127.0.0.1/32',
    NODE_OPTIONS: `--max-old-space-size=${HEAP_MB}`,
  });
  const other = await createUser(database, 'bystander');
  bystander = clientOf(api.url, other.auth);
  const made = await bystander.post('/v1/applications', { name: 'a', voiceUrl: 'http://v/' });
  application = new URL(made.json<{ href: string }>().href).pathname;
});
afterAll(async () => {
  for (const connection of connections) connection.destroy();
  await api.stop();
  await database.drop();
});

/** Sends bytes on connections of their own, and reads nothing of what comes. */
async function unread(count: number, bytes: string): Promise<void> {
  for (let made = 0; made < count; made += 1) {
    const connection = await connectTo(api.url);
    connections.push(connection);
    connection.pause();
    connection.write(bytes);
  }
}

const head = (line: string) => `${line} HTTP/1.1\r\nHost: x\r\nAuthorization: ${basic(auth)}\r\n`;
const get = (path: string) => `${head(`GET ${path}`)}\r\n`;
const BODY = 250_000;

const FLOODS: [what: string, flood: () => Promise<void>][] = [
  ['lists that nobody reads', () => unread(150, get('/v1/webhooks?scope=all'))],
  ['pages that nobody reads', () => unread(50, get('/v1/webhooks?scope=all&limit=1000'))],
  ['a deep log', () => unread(50, get(`/v1/deliveries/${delivery}`))],
  ['all of a deep log', () => unread(20, get(`/v1/deliveries/${delivery}/attempts?limit=1000`))],
  ['pipelined requests', () => unread(4, get('/v1/webhooks?limit=1000&scope=all').repeat(2_000))],
  ['filters that find nothing', () => unread(50, get('/v1/events?resource=transcription'))],
  [
    'bodies that do not end',
    () =>
      unread(
        120,
        `${head('POST /v1/applications')}Content-Type: application/json\r\n` +
          `Content-Length: ${BODY + 1_000}\r\n\r\n{${' '.repeat(BODY)}`,
      ),
  ],
  [
    'wrong logins',
    async () => {
      for (let n = 0; n < 300; n += 1) {
        const wrong = basic(`u${randomBytes(4).toString('hex')}:wrong`);
        const from = `X-Forwarded-For: 198.51.100.${n % 5}\r\n`;
        await unread(
          1,
          `GET /v1/users HTTP/1.1\r\nHost: x\r\n${from}Authorization: ${wrong}\r\n\r\n`,
        );
      }
    },
  ],
];

/** Calls of another account, each of which has to succeed. @returns how long they took, in ms */
async function callsFor(ms: number): Promise<number[]> {
  const took: number[] = [];
  for (const end = performance.now() + ms; performance.now() < end;) {
    const start = performance.now();
    expect((await bystander.get(application)).status).toBe(200);
    took.push(performance.now() - start);
    await sleep(10);
  }
  return took.sort((a, b) => a - b);
}

const p99 = (took: number[]) => took[Math.floor(took.length * 0.99)]!;

describe('an account that', () => {
  it.each(FLOODS)(
    'asks for %s shuts nobody else out and does not exhaust memory',
    async (_, flood) => {
      await Promise.all([callsFor(2_000), flood()]);
      expect(residentMb(api)).toBeLessThan(2 * HEAP_MB);
    },
  );

  it('does all of this at once does not end the API, and others are served', async () => {
    const before = p99(await callsFor(1_000));
    const [during] = await Promise.all([callsFor(5_000), ...FLOODS.map(([, flood]) => flood())]);
    console.log(`p99 ${before.toFixed()} ms, in the flood ${p99(during).toFixed()} ms`);
    expect(residentMb(api)).toBeLessThan(2 * HEAP_MB);
  });
});
