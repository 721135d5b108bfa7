import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Program } from '#tools/programs';
import { createUser } from '../support/accounts.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { ATTACK_MS, lowPriority, MOST_MB, MOST_TIMES, p99 } from '../support/hostility.js';
import { type Client, clientOf } from '../support/http.js';
import { programs, startApi, startWorker } from '../support/processes.js';
import type { ServiceProcess } from '../support/service-process.js';
import { type Receiver, startReceiver } from '../support/receiver.js';
import { aSubscription } from '../support/rows.js';

const TARGET = fileURLToPath(new URL('../support/hostile-target.mjs', import.meta.url));
/** The worker's heap limit. A worker that kept answers in memory would crash. */
const HEAP_MB = 256;
const WAYS = [
  ...['interim', 'headers', 'body', 'bomb', 'folds', 'garbage', 'drip', 'reset', 'silence'],
];
/** The number of subscriptions for each kind of hostile target, 135 in all. */
const EACH = 15;
const EVENTS = 10;

let database: TestDatabase;
let api: ServiceProcess;
let worker: ServiceProcess;
let target: Program;
let receiver: Receiver;
let platform: Client;
let hostile: string;
let bystander: string;
let reported = 0;

beforeAll(async () => {
  database = await createTestDatabase();
  target = programs.start('target', process.execPath, [TARGET]);
  lowPriority(target);
  await target.ready(() => target.output().endsWith('\n'), 10_000);
  receiver = await startReceiver();
  hostile = (await createUser(database, 'hostile')).id;
  bystander = (await createUser(database, 'bystander')).id;
  await aSubscription(database, bystander, { target_url: receiver.url });
  for (const way of WAYS) {
    for (let n = 0; n < EACH; n += 1) {
      const target_url = `${target.output().trim()}/${way}/${n}`;
      await aSubscription(database, hostile, { target_url });
    }
  }
  const environment = { DATABASE_URL: database.url, DELIVERY_ALLOWED_NETWORKS: '127.0.0.0/8' };
  [api, worker] = await Promise.all([
    startApi(environment),
    startWorker({
      ...environment,
      DELIVERY_RETRY_SCHEDULE: '1s,1s,1s,1s,1s',
      NODE_OPTIONS: `--max-old-space-size=${HEAP_MB}`,
    }),
  ]);
  platform = clientOf(api.url, (await createUser(database, 'switch', 'platform')).auth);
});
afterAll(async () => {
  await Promise.all([target.kill(), api.stop(), worker.stop()]);
  await receiver.close();
  await database.drop();
});

const anEvent = (accountId: string, number: number) => ({
  event: 'cdrCreated',
  resource: 'call',
  accountId,
  data: { number },
});

/**
 * Reports events of another account and waits until all arrive. @returns the time from report to
 * arrival of each, in ms
 */
async function deliveriesFor(ms: number): Promise<number[]> {
  const at = new Map<number, number>();
  for (const end = Date.now() + ms; Date.now() < end;) {
    reported += 1;
    at.set(reported, Date.now());
    expect((await platform.post('/v1/events', anEvent(bystander, reported))).status).toBe(202);
    await sleep(50);
  }
  await receiver.until((received) => received.length >= reported);
  const numberOf = ({ body }: { body: string }) =>
    (JSON.parse(body) as { data: { number: number } }).data.number;
  return receiver.received.flatMap((each) => {
    const start = at.get(numberOf(each));
    return start === undefined ? [] : [each.at - start];
  });
}

/** Reports events of the hostile account, spread evenly over a period. */
async function reportHarm(ms: number): Promise<void> {
  for (let number = 0; number < EVENTS; number += 1) {
    expect((await platform.post('/v1/events', anEvent(hostile, number))).status).toBe(202);
    await sleep(ms / EVENTS);
  }
}

it('hostile targets neither crash a worker nor keep notifications of others from arriving', async () => {
  // The first calls of a new process are slow.
  await deliveriesFor(500);
  const before = p99(await deliveriesFor(ATTACK_MS));
  const [during] = await Promise.all([deliveriesFor(ATTACK_MS).then(p99), reportHarm(ATTACK_MS)]);
  const memory = worker.memory();
  console.log(
    `hostile targets: p99 undisturbed ${before} ms, during it ${during} ms; ${memory.toFixed()} MB`,
  );
  expect(memory).toBeLessThan(MOST_MB);
  expect(during).toBeLessThan(MOST_TIMES * before);
});

it('an account with 200,000 waiting replay parts does not keep notifications of others from arriving', async () => {
  await deliveriesFor(500);
  const before = p99(await deliveriesFor(ATTACK_MS));
  await database.query(
    `WITH w AS (
       INSERT INTO webhooks (account_id, event, resource, target_url, enabled, secret, paused)
       SELECT $1, 'cdrRated', 'all', 'http://127.0.0.1:1024/', true, 'whsec_', true
       FROM generate_series(1, 20000) RETURNING id
     ),
     r AS (
       INSERT INTO replays (id, account_id, since, until, states, total, parts)
       SELECT new_uuid(clock_timestamp(), n), $1, now(), now(), '{exhausted}', 0, 20000
       FROM generate_series(1, 10) n RETURNING id
     )
     INSERT INTO replay_parts (replay_id, account_id, webhook_id, generation, after)
     SELECT r.id, $1, w.id, 1, new_uuid(now(), 0) FROM r, w`,
    [hostile],
  );
  const during = p99(await deliveriesFor(ATTACK_MS));
  const memory = worker.memory();
  console.log(
    `waiting replays: p99 undisturbed ${before} ms, during it ${during} ms; ${memory.toFixed()} MB`,
  );
  expect(memory).toBeLessThan(MOST_MB);
  expect(during).toBeLessThan(MOST_TIMES * before);
});
