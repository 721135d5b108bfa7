import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createUser } from '../support/accounts.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { ATTACK_MS, MOST_MB, MOST_TIMES, p99 } from '../support/hostility.js';
import { type Client, clientOf } from '../support/http.js';
import { startApi } from '../support/processes.js';
import type { ServiceProcess } from '../support/service-process.js';

/** As long as the data of an event may be, less the closing brackets. */
const BYTES = (128 << 10) - 100;
const fill = (unit: string): string => unit.repeat(Math.floor(BYTES / unit.length));
const DEEP = '{"a":'.repeat(4);

/** Data that are costly to judge: the filters read each kind in another way. A body may have 16,384 values. */
const COSTLY = [
  `{${fill('"a":{"a":12345678},')}"a":1}`,
  `${DEEP}{${fill('"a":12345,')}"a":1}}}}}`,
  `{${fill('"\\u0061":1,')}"a":1}`,
  `{"a":"${fill('\\u0000')}"}`,
  `{"a":"${fill('\\\\')}"}`,
  `{"a":1${fill('0')}1}`,
];
/** How often such an event is reported. */
const EVERY_MS = 50;

let database: TestDatabase;
let api: ServiceProcess;
let platform: Client;
let hostile: { id: string; client: Client };
let bystander: string;

beforeAll(async () => {
  database = await createTestDatabase();
  api = await startApi({ DATABASE_URL: database.url });
  platform = clientOf(api.url, (await createUser(database, 'switch', 'platform')).auth);
  const { id, auth } = await createUser(database, 'hostile');
  hostile = { id, client: clientOf(api.url, auth) };
  bystander = (await createUser(database, 'bystander')).id;
});
afterAll(async () => {
  await api.stop();
  await database.drop();
});

/** A filter that reads each level of objects in several ways, with long lists. No event of these meets it. */
function costlyFilter(of: number): object {
  const values = Array.from({ length: 130 }, (_, index) => of * 1_000 + index + 2);
  const paths = [1, 2, 3, 4, 5].map((names) => Array.from({ length: names }, () => 'a').join('.'));
  const members = paths.flatMap((path): [string, unknown][] => [
    [path, values],
    [`${path.slice(0, -1)}b`, { not: { prefix: 'x' } }],
  ]);
  return Object.fromEntries(members);
}

/** Reports costly events of the hostile account, and meanwhile short ones of another. @returns how long those took */
async function tookBeside(ms: number): Promise<number[]> {
  const took: number[] = [];
  const end = performance.now() + ms;
  const report = async (accountId: string, data: string) => {
    const body = `{"event":"cdrCreated","resource":"call","accountId":${accountId},"data":${data}}`;
    const answer = await platform.post('/v1/events', body);
    expect(answer.status).toBe(202);
    expect(answer.json()).toMatchObject({
      deliveries: accountId === bystander ? 0 : (expect.any(Number) as number),
    });
  };
  const harm = async () => {
    for (let n = 0; performance.now() < end; n += 1) {
      await report(hostile.id, COSTLY[n % COSTLY.length]!);
      await sleep(EVERY_MS);
    }
  };
  const work = async () => {
    while (performance.now() < end) {
      const start = performance.now();
      await report(bystander, '{"a":1}');
      took.push(performance.now() - start);
      await sleep(5);
    }
  };
  await Promise.all([harm(), work()]);
  return took;
}

it('events of 128 KB with costly filters delay those of others hardly more than without filters', async () => {
  await tookBeside(500);
  const without = p99(await tookBeside(ATTACK_MS));
  for (let n = 0; n < 10; n += 1) {
    const subscription = { event: 'cdrCreated', resource: 'all', targetUrl: 'https://t.example/' };
    const answer = await hostile.client.post('/v1/webhooks', {
      ...subscription,
      filter: costlyFilter(n),
    });
    expect([answer.status, answer.text]).toEqual([200, expect.any(String)]);
  }
  const during = p99(await tookBeside(ATTACK_MS));
  const memory = api.memory();
  console.log(
    `costly filters: p99 without ${without.toFixed()} ms, with them ${during.toFixed()} ms; ${memory.toFixed()} MB`,
  );
  expect(memory).toBeLessThan(MOST_MB);
  expect(during).toBeLessThan(MOST_TIMES * without);
});
