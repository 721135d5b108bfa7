import { afterAll, beforeAll, expect, it } from 'vitest';
import { createUser } from '../support/accounts.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { flooded, type Send } from '../support/flooding.js';
import {
  ATTACK_MS,
  callsOf,
  MOST_HELD_MS,
  MOST_MB,
  MOST_TIMES,
  p99,
} from '../support/hostility.js';
import { basic, type Client, clientOf } from '../support/http.js';
import { LoopHold } from '../support/loop-hold.js';
import { startApi } from '../support/processes.js';
import type { ServiceProcess } from '../support/service-process.js';

/** The API's heap limit. */
const HEAP_MB = 256;
/** Bytes of the data of an event, and events of that size in a batch of 8 MiB. */
const DATA_BYTES = (128 << 10) - 100;
const EVENTS = 63;

let database: TestDatabase;
let api: ServiceProcess;
const loop = new LoopHold();
let producer: string;
let bystander: Client;
let application: string;

beforeAll(async () => {
  database = await createTestDatabase();
  producer = (await createUser(database, 'switch', 'platform')).auth;
  api = await startApi({
    DATABASE_URL: database.url,
    ...loop.environment(`--max-old-space-size=${HEAP_MB}`),
  });
  bystander = clientOf(api.url, (await createUser(database, 'bystander')).auth);
  const made = await bystander.post('/v1/applications', { name: 'a', voiceUrl: 'http://v/' });
  application = new URL(made.json<{ href: string }>().href).pathname;
});
afterAll(async () => {
  await api.stop();
  await database.drop();
});

const fill = (unit: string, bytes: number) => unit.repeat(Math.floor(bytes / unit.length));
const batch = (count: number, members: string, data: string) => {
  const event = `{"event":"cdrCreated","resource":"call","accountId":1${members},"data":${data}}`;
  return `{"events":[${Array.from({ length: count }, () => event).join()}]}`;
};
const names = (count: number) =>
  Array.from({ length: count }, (_, n) => `"${n.toString(36).padStart(11, 'n')}":1`).join();

/** Batches that take longest to parse, to check, to store or to answer. */
const BATCHES: [what: string, body: string, strict?: boolean][] = [
  ['many members', batch(60, '', `{${names(7_700)}}`)],
  ['escaped names', batch(EVENTS, '', `{${fill('"\\u0061bcdefgh":1,', DATA_BYTES)}"a":1}`)],
  ['quotes', batch(EVENTS, '', `{"a":"${fill('\\"', DATA_BYTES)}"}`)],
  ['members of the body that are unknown', `{${names(500_000)},"events":[1]}`],
  ['unknown members', batch(1_000, `,${names(40)}`, '{}'), true],
];

function sendOf(body: string, strict = false): Send {
  const head =
    `POST /v1/events/batch HTTP/1.1\r\nHost: x\r\nAuthorization: ${basic(producer)}\r\n` +
    `${strict ? 'Prefer: handling=strict\r\n' : ''}Connection: close\r\n` +
    `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n`;
  return { connections: 1, bytes: head + body, reads: true };
}

it.each(BATCHES)(
  'batches of 8 MiB with %s delay the calls of others hardly',
  async (what, body, strict) => {
    await callsOf(bystander, application, 300);
    const undisturbed = p99(await callsOf(bystander, application, ATTACK_MS));
    await loop.longest(api);
    const during = p99(
      await flooded(api.url, [sendOf(body, strict)], () =>
        callsOf(bystander, application, ATTACK_MS),
      ),
    );
    const held = await loop.longest(api);
    const memory = api.memory();
    console.log(
      `batches with ${what}: p99 undisturbed ${undisturbed.toFixed()} ms, during them ${during.toFixed()} ms; loop held for ${held.toFixed(1)} ms; ${memory.toFixed()} MB`,
    );
    expect(memory).toBeLessThan(MOST_MB);
    expect(held).toBeLessThan(MOST_HELD_MS);
    expect(during).toBeLessThan(MOST_TIMES * undisturbed);
  },
);
