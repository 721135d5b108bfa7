import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createUser } from '../support/accounts.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { flooded, type Send } from '../support/flooding.js';
import { ATTACK_MS, callsOf, MOST_MB, MOST_TIMES, p99 } from '../support/hostility.js';
import { type Client, clientOf } from '../support/http.js';
import { startApi } from '../support/processes.js';
import type { ServiceProcess } from '../support/service-process.js';

const HEAP_MB = 256;

let database: TestDatabase;
let api: ServiceProcess;
let bystander: Client;
let application: string;
/** The main scripts of the console and of the API reference. */
let scripts: string[];

beforeAll(async () => {
  database = await createTestDatabase();
  api = await startApi({
    DATABASE_URL: database.url,
    TRUSTED_PROXIES: '127.0.0.1/32',
    NODE_OPTIONS: `--max-old-space-size=${HEAP_MB}`,
  });
  const other = await createUser(database, 'bystander');
  bystander = clientOf(api.url, other.auth);
  const made = await bystander.post('/v1/applications', { name: 'a', voiceUrl: 'http://v/' });
  application = new URL(made.json<{ href: string }>().href).pathname;
  scripts = await Promise.all(
    ['/console/', '/docs/'].map(async (page) => {
      const { text } = await bystander.get(page);
      return page + /src="\.\/(assets\/[^"]+\.js)"/.exec(text)![1]!;
    }),
  );
});
afterAll(async () => {
  await api.stop();
  await database.drop();
});

const JSON_TYPE = 'Content-Type: application/json\r\n';
const head = (line: string, headers = '') => `${line} HTTP/1.1\r\nHost: x\r\n${headers}`;
const get = (path: string, headers = '') => `${head(`GET ${path}`, headers)}\r\n`;
const MARKS = '\u0301\u0316';
/** The headers of a client behind the proxy. */
const from = (n: number) => `X-Forwarded-For: 198.51.100.${n}\r\n`;
const LARGE_HEAD = 15_000;

function login(password: string, sent = Infinity): string {
  const body = Buffer.from(JSON.stringify({ username: 'bystander', password }));
  const headers = `${JSON_TYPE}Content-Length: ${body.length}\r\n\r\n`;
  return head('POST /v1/session', headers) + body.subarray(0, sent).toString();
}

const FLOODS: [what: string, sends: () => Send[]][] = [
  [
    'sends passwords of unsorted accents',
    () => [
      { connections: 10, bytes: login(MARKS.repeat(64_000)) },
      ...[1, 2, 3, 4].map((n) => ({
        connections: 10,
        bytes: `${head('GET /v1/users', from(n))}Connection: close\r\nAuthorization: Basic ${Buffer.from(`demo:${MARKS.repeat(2_700)}`).toString('base64')}\r\n\r\n`,
        reads: true,
      })),
    ],
  ],
  [
    'sends costly headers',
    () =>
      [
        `X-Forwarded-For: 192.0.2.1${',127.0.0.1'.repeat(1_400)}`,
        `Accept: "${','.repeat(LARGE_HEAD)}`,
        `Cookie: ${'a=%41;'.repeat(2_500)}`,
        'a:b\r\n'.repeat(3_000).trim(),
      ].map((header) => ({
        connections: 5,
        bytes: get('/console/', `${header}\r\nConnection: close\r\n`),
        reads: true,
      })),
  ],
  [
    'sends part of a login on 800 connections',
    () => [{ connections: 800, bytes: login('x'.repeat(900), 700) }],
  ],
  [
    'sends part of a login on 4,000 connections',
    () => [{ connections: 4_000, bytes: login('x'.repeat(900), 700) }],
  ],
  [
    'sends all but the last KB of a 256 KB login on 800 connections',
    () => [{ connections: 800, bytes: login('x'.repeat(1 << 18), 255 << 10) }],
  ],
  [
    'sends part of a request head on 4,000 connections',
    () => [{ connections: 4_000, bytes: head('GET /', `X: ${'x'.repeat(LARGE_HEAD)}`) }],
  ],
  [
    'sends thousands of short headers on 2,000 connections',
    () => [{ connections: 2_000, bytes: head('GET /', 'ab:cd\r\n'.repeat(2_100)) }],
  ],
  [
    'sends bodies on 1,000 connections',
    () =>
      Array.from({ length: 50 }, (_, n) => ({
        connections: 20,
        bytes: `${head('POST /v1/applications', from(n) + JSON_TYPE)}Content-Length: 200000\r\n\r\n${' '.repeat(100_000)}`,
      })),
  ],
  [
    'pipelines large requests on 500 connections',
    () =>
      Array.from({ length: 50 }, (_, n) => ({
        connections: 10,
        bytes: get('/v1/users', `${from(n)}X: ${'x'.repeat(LARGE_HEAD)}\r\n`).repeat(32),
      })),
  ],
  [
    'sends requests and disconnects before the answer',
    () => [
      {
        connections: 20,
        bytes: get('/v1/users', `X: ${'x'.repeat(LARGE_HEAD)}\r\n`),
        leavesWithinMs: 0,
      },
    ],
  ],
  [
    'requests long console URLs on 250 connections and does not read the answers',
    () => [{ connections: 250, bytes: get(`/console/${'/'.repeat(LARGE_HEAD)}`).repeat(4) }],
  ],
  [
    'requests unknown paths on 250 connections and does not read the answers',
    () => [{ connections: 250, bytes: get(`/${'"'.repeat(LARGE_HEAD)}`).repeat(4) }],
  ],
  [
    'requests files of the console and the documentation and does not read them',
    () =>
      [...scripts, '/openapi.json'].map((path) => ({
        connections: 250,
        bytes: get(path).repeat(8),
      })),
  ],
  [
    'requests /health/ready on 250 connections and does not read the answers',
    () => [{ connections: 250, bytes: get('/health/ready').repeat(2_000) }],
  ],
];

describe('a client without credentials that', () => {
  let undisturbed: number;
  beforeAll(async () => {
    await callsOf(bystander, application, 300);
    undisturbed = p99(await callsOf(bystander, application, ATTACK_MS));
  }, 600_000);

  it.each(FLOODS)('%s neither locks accounts out nor takes much memory', async (what, sends) => {
    const during = p99(
      await flooded(api.url, sends(), () => callsOf(bystander, application, ATTACK_MS)),
    );
    const memory = api.memory();
    console.log(
      `${what}: p99 undisturbed ${undisturbed.toFixed()} ms, during it ${during.toFixed()} ms; ${memory.toFixed()} MB, peak ${api.memory('peak').toFixed()}`,
    );
    expect(memory).toBeLessThan(MOST_MB);
    expect(during).toBeLessThan(MOST_TIMES * undisturbed);
  });
});
