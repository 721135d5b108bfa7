import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Schemas } from '#libs/client';
import { createUser } from '../support/accounts.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { ATTACK_MS, callsOf, MOST_MB, MOST_TIMES, p99 } from '../support/hostility.js';
import { type Client, clientOf } from '../support/http.js';
import { startApi, startWorker } from '../support/processes.js';
import { type Receiver, startReceiver } from '../support/receiver.js';
import type { ServiceProcess } from '../support/service-process.js';

const EVENTS = 1_000_000;
/** Every hundredth event has it. */
const NUMBER = '+14075550123';

let database: TestDatabase;
let api: ServiceProcess;
let worker: ServiceProcess;
let receiver: Receiver;
let platform: Client;
let attacker: Client;
let bystander: Client;
let application: string;
let accountId: string;

beforeAll(async () => {
  database = await createTestDatabase();
  receiver = await startReceiver();
  const environment = { DATABASE_URL: database.url, DELIVERY_ALLOWED_NETWORKS: '127.0.0.0/8' };
  [api, worker] = await Promise.all([startApi(environment), startWorker(environment)]);
  platform = clientOf(api.url, (await createUser(database, 'switch', 'platform')).auth);
  const owner = await createUser(database, 'attacker');
  attacker = clientOf(api.url, owner.auth);
  const other = await createUser(database, 'bystander');
  accountId = other.id;
  bystander = clientOf(api.url, other.auth);
  const made = await bystander.post('/v1/applications', { name: 'a', voiceUrl: 'http://v/' });
  application = new URL(made.json<{ href: string }>().href).pathname;
  await bystander.post('/v1/webhooks', {
    ...{ event: 'cdrCreated', resource: 'all', targetUrl: receiver.url },
  });
  await database.query(
    `INSERT INTO events (id, account_id, event, resource, occurred_at, created_at, data)
     SELECT new_uuid(at, 1), $1, 'cdrCreated', 'call', at, at,
       json_build_object('to', CASE n % 100 WHEN 0 THEN $2 END, 'filler', repeat(md5(n::text), 8))
     FROM generate_series(1, $3::integer) n, LATERAL (SELECT now() - n * interval '1 us' AS at) t`,
    [owner.id, NUMBER, EVENTS],
  );
  await database.query('ANALYZE');
}, 600_000);
afterAll(async () => {
  await Promise.all([api.stop(), worker.stop()]);
  await receiver.close();
  await database.drop();
});

/** Reports events of the bystander one by one meanwhile. @returns from report to arrival, in ms */
async function arrivals(ms: number): Promise<number[]> {
  const sent = new Map<string, number>();
  receiver.received.length = 0;
  for (const end = Date.now() + ms; Date.now() < end;) {
    const n = String(sent.size);
    sent.set(n, Date.now());
    const event = { event: 'cdrCreated', resource: 'call', accountId, data: { n } };
    expect((await platform.post('/v1/events', event)).status).toBe(202);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  await receiver.until((received) => received.length >= sent.size);
  return receiver.received.map(({ body, at }) => {
    const { data } = JSON.parse(body) as { data: { n: string } };
    return at - sent.get(data.n)!;
  });
}

const calls = async (): Promise<{ read: number; arrival: number }> => {
  const [read, arrival] = await Promise.all([
    callsOf(bystander, application, ATTACK_MS),
    arrivals(ATTACK_MS),
  ]);
  return { read: p99(read), arrival: p99(arrival) };
};

it('erasing 10,000 of a million events delays calls and deliveries of others hardly', async () => {
  await calls();
  const undisturbed = await calls();
  const answer = await attacker.post('/v1/erasures', { contains: NUMBER });
  const { pathname } = new URL(answer.json<{ href: string }>().href);
  const erasure = async () => (await attacker.get(pathname)).json<Schemas['Erasure']>();
  const rounds = [];
  const start = Date.now();
  do rounds.push(await calls());
  while ((await erasure()).state === 'running');
  const read = Math.max(...rounds.map((round) => round.read));
  const arrival = Math.max(...rounds.map((round) => round.arrival));
  const memory = Math.max(api.memory(), worker.memory());
  console.log(
    `erasing: read p99 undisturbed ${undisturbed.read.toFixed()} ms, during it ${read.toFixed()} ms; ` +
      `arrival p99 ${undisturbed.arrival.toFixed()} ms and ${arrival.toFixed()} ms; ` +
      `${((Date.now() - start) / 1_000).toFixed()} s; ${memory.toFixed()} MB`,
  );
  expect((await erasure()).events).toBe(EVENTS / 100);
  expect(memory).toBeLessThan(MOST_MB);
  expect(read).toBeLessThan(MOST_TIMES * undisturbed.read);
  expect(arrival).toBeLessThan(MOST_TIMES * undisturbed.arrival);
}, 900_000);
