import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { eventually } from '#tools/eventually';
import { createUser } from '../support/accounts.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { type Client, clientOf } from '../support/http.js';
import { apiInProcess, type Running } from '../support/in-process.js';
import { startWorker } from '../support/processes.js';
import { type Receiver, startReceiver } from '../support/receiver.js';

const EVENTS = 500;
const BOUND = 5;
/** A worker's limit for a subscription: calls in flight, and the same number of waiting deliveries. */
const HELD = 2 * BOUND;

interface Shown {
  enabled: boolean;
  disabledReason?: string;
  health?: { state: string; since?: string; until?: string; disablesAt?: string };
}

let database: TestDatabase;
let processes: Running[];
let receiver: Receiver;
let customer: Client;
let platform: Client;
let accountId: string;
let webhook: string;
let isDead: boolean;
let inFlight: number;
let most: number;

beforeAll(async () => {
  database = await createTestDatabase();
  const environment = {
    DATABASE_URL: database.url,
    DELIVERY_ALLOWED_NETWORKS: '127.0.0.0/8',
    DELIVERY_CONCURRENCY: String(BOUND),
    DELIVERY_RETRY_SCHEDULE: Array.from({ length: 20 }, () => '1s').join(','),
  };
  const api = await apiInProcess(environment);
  processes = [api, ...(await Promise.all([startWorker(environment), startWorker(environment)]))];
  const account = await createUser(database, 'customer');
  accountId = account.id;
  customer = clientOf(api.url, account.auth);
  platform = clientOf(api.url, (await createUser(database, 'platform', 'platform')).auth);
  receiver = await startReceiver((_, response) => {
    inFlight += 1;
    most = Math.max(most, inFlight);
    setTimeout(() => {
      inFlight -= 1;
      response.writeHead(isDead ? 500 : 200).end();
    }, 5);
  });
});
afterAll(async () => {
  await Promise.all(processes.map((running) => running.stop()));
  await receiver.close();
  await database.drop();
});
beforeEach(async () => {
  await database.query('TRUNCATE webhooks, deliveries, attempts, events');
  [isDead, inFlight, most] = [true, 0, 0];
  receiver.received.length = 0;
  const { href } = (
    await customer.post('/v1/webhooks', {
      event: 'cdrCreated',
      resource: 'all',
      targetUrl: receiver.url,
    })
  ).json<{ href: string }>();
  webhook = new URL(href).pathname;
});

async function report(count: number): Promise<void> {
  const events = Array.from({ length: count }, (_, number) => ({
    event: 'cdrCreated',
    resource: 'call',
    accountId,
    data: { number },
  }));
  expect((await platform.post('/v1/events/batch', { events })).status).toBe(202);
}

const shown = async (): Promise<Shown> => (await customer.get(webhook)).json<Shown>();
const set = (what: string) => database.query(`UPDATE webhooks SET ${what}`);
const healthIs = (state: string) => eventually(shown, ({ health }) => health?.state === state);
/** Waits until nothing is pending, and counts the deliveries by their final state. */
async function ended(): Promise<{ state: string; reason: string | null; count: number }[]> {
  return eventually(
    () =>
      database.query<{ state: string; reason: string | null; count: number }>(
        'SELECT state, reason, count(*)::int FROM deliveries GROUP BY state, reason',
      ),
    (rows) => rows.every(({ state }) => state !== 'pending'),
    { ms: 60_000 },
  );
}

/** Opens the circuit: moves the first failure 31 s into the past. */
async function open(): Promise<void> {
  await healthIs('failing');
  await eventually(
    () => database.query<{ failures: number }>('SELECT failures FROM webhooks'),
    ([row]) => row?.failures === 10,
  );
  await set(`failing_since = now() - interval '31 s'`);
  await healthIs('open');
}

/**
 * Waits until the worker has noticed the open circuit: calls that it leased before may still start.
 */
async function settled(): Promise<void> {
  let seen = -1;
  await eventually(
    async () => {
      seen = receiver.received.length;
      await new Promise((resolve) => setTimeout(resolve, 500));
      return inFlight;
    },
    (calls) => calls === 0 && receiver.received.length === seen,
  );
}

it('sends nothing to a dead target except probes, and the whole backlog once it is back', async () => {
  expect(await shown()).toMatchObject({ health: { state: 'ok' } });
  await report(EVENTS);
  await open();
  const { health } = await shown();
  expect(Date.parse(health!.until!)).toBeGreaterThan(Date.now() + 20_000);
  expect(Date.parse(health!.disablesAt!) - Date.parse(health!.since!)).toBe(5 * 86_400_000);
  await settled();

  // Nothing is sent, and most deliveries are parked without a single attempt.
  const before = receiver.received.length;
  await report(1);
  await new Promise((resolve) => setTimeout(resolve, 1_500));
  expect(receiver.received.length).toBe(before);
  const parked = (await customer.get(`${webhook}/deliveries?state=parked&limit=1000`)).json<
    { nextAttemptAt: string }[]
  >();
  expect(parked).toHaveLength(EVENTS + 1);
  expect(Date.parse(parked[0]!.nextAttemptAt)).toBe(Date.parse(health!.until!));

  // One probe, which fails.
  await set('open_until = now()');
  await eventually(shown, ({ health: now }) => Date.parse(now!.until!) > Date.now() + 40_000);
  expect(receiver.received.length).toBe(before + 1);

  // One probe, which succeeds, and then the others, oldest first.
  isDead = false;
  most = 0;
  await set('open_until = now()');
  expect(await ended()).toEqual([{ state: 'succeeded', reason: null, count: EVENTS + 1 }]);
  expect(await shown()).toMatchObject({ enabled: true, health: { state: 'ok' } });
  expect(most).toBeLessThanOrEqual(2 * BOUND);
  const tried = new Set(receiver.received.slice(0, before + 1).map(({ id }) => id));
  const untried = receiver.received.map(({ id }) => id).filter((id) => !tried.has(id));
  // When the circuit opened, each worker returned its deliveries, which are due from then on, and now holds the same
  // number.
  const oldest = new Set(untried.toSorted().slice(0, 50 + 2 * HELD + 2 * HELD));
  expect(untried.slice(0, 50).filter((id) => !oldest.has(id))).toEqual([]);
});

it('closes after a successful test', async () => {
  await report(20);
  await open();
  isDead = false;
  expect((await customer.post(`${webhook}/test`)).status).toBe(202);
  await ended();
  expect(await shown()).toMatchObject({ health: { state: 'ok' } });
});

it('disables a subscription after five days of nothing but failures', async () => {
  await report(20);
  await open();
  await set(`failing_since = now() - interval '5 days', open_until = now()`);
  const off = await eventually(shown, ({ enabled }) => !enabled);
  expect(off).toMatchObject({ disabledReason: 'failing' });
  expect(off.health).toBeUndefined();
  expect(await ended()).toMatchObject([{ state: 'cancelled', reason: 'failing' }]);

  expect((await customer.put(webhook, { enabled: true })).status).toBe(200);
  // The service has cancelled them, which enabling it does not undo.
  expect(await shown()).toMatchObject({ enabled: true, health: { state: 'losing', lost: 20 } });
  isDead = false;
  receiver.received.length = 0;
  await report(1);
  await receiver.until((received) => received.length === 1);
});
