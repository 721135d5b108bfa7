import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createUser } from '../support/accounts.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { flooded, type Send } from '../support/flooding.js';
import { ATTACK_MS, callsOf, MOST_MB, MOST_TIMES, p99 } from '../support/hostility.js';
import { basic, type Client, clientOf } from '../support/http.js';
import { startApi } from '../support/processes.js';
import { requestOf, whileSent } from '../support/requests.js';
import type { ServiceProcess } from '../support/service-process.js';
import { largeSubscriptions } from '../support/rows.js';

/** The API's heap limit. An API that kept a flood in memory would crash. */
const HEAP_MB = 256;
const EVENTS = 50_000;
const ATTEMPTS = 5_000;
/** How many exports one account reads at once. */
const EXPORTS = 16;
/** The least that they get together of the rate of one alone. */
const LEAST_RATE = 0.7;

let database: TestDatabase;
let api: ServiceProcess;
let auth: string;
let delivery: string;
/** The path of an event with 1,500 deliveries, all of them to one subscription. */
let told: string;
let toldOf: string;
let bystander: Client;
let application: string;

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
  const [sent] = await database.query<{ event: string; webhook: string }>(
    `WITH w AS (
       INSERT INTO webhooks (account_id, event, resource, target_url, enabled, secret)
       VALUES ($1, 'smsdlr', 'all', 'https://t.example/' || repeat('x', 2000), true, 'whsec_') RETURNING id
     ),
     e AS (
       INSERT INTO events (id, account_id, event, resource, test, occurred_at, created_at, data)
       SELECT new_uuid(now() - interval '1 s', 1), $1, 'smsdlr', 'sms', false, now(), now(), '{}' RETURNING id
     ),
     d AS (
       INSERT INTO deliveries (id, event_id, webhook_id, account_id, event, generation, state, created_at)
       SELECT new_uuid(now() - interval '1 s', 1 + n), e.id, w.id, $1, 'smsdlr', 1, 'cancelled', now()
       FROM e, w, generate_series(1, 1500) n
     )
     SELECT e.id AS event, w.id AS webhook FROM e, w`,
    [hostile.id],
  );
  told = `/v1/events/${sent!.event}`;
  toldOf = sent!.webhook;
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
  await api.stop();
  await database.drop();
});

const head = (line: string) => `${line} HTTP/1.1\r\nHost: x\r\nAuthorization: ${basic(auth)}\r\n`;
const get = (path: string) => `${head(`GET ${path}`)}\r\n`;
const unread = (connections: number, path: string): Send[] => [{ connections, bytes: get(path) }];
/** Requests whose answers are read, one after the other on each connection. */
const repeated = (connections: number, line: string, body?: object): Send[] => [
  {
    connections,
    bytes: `${head(line)}Connection: close\r\n${body ? json(body) : '\r\n'}`,
    reads: true,
  },
];
const BODY = 250_000;
function json(body: object): string {
  const text = JSON.stringify(body);
  return `Content-Type: application/json\r\nContent-Length: ${text.length}\r\n\r\n${text}`;
}

/** Exports all events that many times at once, while another account works. @returns also the durations of its calls */
async function exportedBeside(times: number) {
  const headers = { accept: 'application/x-ndjson' };
  const requests = [requestOf(auth, 'GET', '/v1/events', { headers })];
  const start = performance.now();
  const took: number[] = [];
  const answers = await whileSent({ url: api.url, requests, times, everyMs: 0 }, async () => {
    took.push(...(await callsOf(bystander, application, 500)));
  });
  return { bytes: answers.map(({ bytes }) => bytes), ms: performance.now() - start, took };
}

const FLOODS: [what: string, sends: () => Send[]][] = [
  ['requests lists and does not read them', () => unread(150, '/v1/webhooks?scope=all')],
  ['requests pages and does not read them', () => unread(50, '/v1/webhooks?scope=all&limit=1000')],
  [
    'requests a long attempt log and does not read it',
    () => unread(50, `/v1/deliveries/${delivery}`),
  ],
  [
    'requests all pages of a long attempt log and does not read them',
    () => unread(20, `/v1/deliveries/${delivery}/attempts?limit=1000`),
  ],
  [
    'pipelines requests',
    () => [{ connections: 4, bytes: get('/v1/webhooks?limit=1000&scope=all').repeat(2_000) }],
  ],
  ['repeatedly reads an event with 1,500 deliveries', () => repeated(30, `GET ${told}`)],
  ['requests an event with 1,500 deliveries and does not read it', () => unread(200, told)],
  [
    'repeatedly sends an event to the same subscription',
    () => repeated(30, `POST ${told}/deliveries`, { webhookId: toldOf }),
  ],
  [
    'repeats filters that find nothing',
    () => [
      {
        connections: 50,
        bytes: `${head('GET /v1/events?resource=transcription')}Connection: close\r\n\r\n`,
        reads: true,
      },
    ],
  ],
  [
    'repeatedly counts, filters, listens and logs in',
    () => {
      const asked: [line: string, body?: object][] = [
        ['GET /v1/stats?buckets=500'],
        ['GET /v1/deliveries?status=failed'],
        ['GET /v1/events?unmatched=true'],
        ['GET /v1/stream'],
        ['POST /v1/session'],
        ['POST /v1/deliveries/redeliver', { since: '2026-01-31T12:00:00Z', dryRun: true }],
      ];
      return asked.map(([line, body]) => ({
        connections: 10,
        bytes: `${head(line)}Sec-Fetch-Site: same-origin\r\nConnection: close\r\n${body ? json(body) : '\r\n'}`,
        reads: true,
      }));
    },
  ],
  [
    'repeatedly tries a filter on its events',
    () => {
      const numbers = Array.from({ length: 100 }, (_, index) => index);
      const filter = Object.fromEntries(['a', 'b', 'c', 'd', 'e'].map((name) => [name, numbers]));
      return repeated(20, `POST /v1/webhooks/${toldOf}/filter/preview`, { filter });
    },
  ],
  [
    'opens streams and disconnects before they begin or soon after',
    () => [{ connections: 40, bytes: get('/v1/stream'), leavesWithinMs: 500 }],
  ],
  [
    'sends bodies that never end',
    () => [
      {
        connections: 120,
        bytes:
          `${head('POST /v1/applications')}Content-Type: application/json\r\n` +
          `Content-Length: ${BODY + 1_000}\r\n\r\n{${' '.repeat(BODY)}`,
      },
    ],
  ],
  [
    'logs in as unknown users',
    () =>
      [1, 2, 3, 4, 5].map((n) => ({
        connections: 60,
        bytes:
          `GET /v1/users HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: 198.51.100.${n}\r\n` +
          'Authorization: Basic {login}\r\nConnection: close\r\n\r\n',
        reads: true,
      })),
  ],
];

describe('an account that', () => {
  let undisturbed: number;
  beforeAll(async () => {
    await callsOf(bystander, application, 300);
    undisturbed = p99(await callsOf(bystander, application, ATTACK_MS));
  }, 600_000);

  it.each<[string, () => Send[]]>([
    ...FLOODS,
    ['does all of this at once', () => FLOODS.flatMap(([, sends]) => sends())],
  ])('%s neither locks others out nor exhausts the memory', async (what, sends) => {
    const during = p99(
      await flooded(api.url, sends(), () => callsOf(bystander, application, ATTACK_MS)),
    );
    const memory = api.memory();
    console.log(
      `${what}: p99 undisturbed ${undisturbed.toFixed()} ms, during it ${during.toFixed()} ms; ${memory.toFixed()} MB`,
    );
    expect(memory).toBeLessThan(MOST_MB);
    expect(during).toBeLessThan(MOST_TIMES * undisturbed);
  });

  it('exports its events many times at once gets them at the rate of one export, and delays nobody', async () => {
    const one = await exportedBeside(1);
    const many = await exportedBeside(EXPORTS);
    const during = p99(many.took);
    const memory = api.memory();
    console.log(
      `exports: one in ${one.ms.toFixed()} ms, ${EXPORTS} in ${many.ms.toFixed()} ms; ` +
        `p99 undisturbed ${undisturbed.toFixed()} ms, with one ${p99(one.took).toFixed()} ms, ` +
        `with all ${during.toFixed()} ms; ${memory.toFixed()} MB`,
    );
    expect(one.bytes[0]).toBeGreaterThan(200 * EVENTS);
    expect(new Set(many.bytes)).toEqual(new Set(one.bytes));
    expect(many.ms).toBeLessThan((EXPORTS * one.ms) / LEAST_RATE);
    expect(memory).toBeLessThan(MOST_MB);
    expect(during).toBeLessThan(MOST_TIMES * undisturbed);
  });
});
