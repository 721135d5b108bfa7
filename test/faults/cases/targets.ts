import { setTimeout as sleep } from 'node:timers/promises';
import { eventually } from '#tools/eventually';
import { type Account, lostOf, makeAccount } from '../harness/account.js';
import type { FaultCase } from '../harness/fault-case.js';
import type { Installation } from '../harness/installation.js';
import { type Arrival, confirm } from '../harness/receiver.js';
import type { Postgres } from '../../support/stores.js';

const ACCOUNTS = 10;
const TARGETS_EACH = 10;
/** Events per second of all accounts together. Each goes to all targets of its account. */
const EVENTS_PER_S = 20;
const PHASE_MS = 12_000;
const ROUNDS = 4;
/** How many times longer than undisturbed the other targets may wait. */
const NOTICEABLE = 1.5;

const BACKLOG = 20_000;
const CALLS_AT_ONCE = 20;
const RECOVERY_MS = 60_000;

/** V8 fills this much heap before it collects, so memory rises to it and falls again, over and over. */
const BUSY_MEMORY = { peakMb: 400, growthMb: 250 };

const WAITING = 1_000_000;
const SUBSCRIPTIONS = 100;
const BURST = 3_000;
const BURSTS = 5;
/** Share of the rate without a backlog. Noise does not explain a lower one. */
const LEAST_RATE = 0.8;
const MOST_REDIS_MB = 64;

function customersOf(installation: Installation): Promise<Account[]> {
  const paths = (account: number) =>
    Array.from({ length: TARGETS_EACH }, (_, target) => `/${String(account)}/${String(target)}`);
  return Promise.all(
    Array.from({ length: ACCOUNTS }, (_, account) =>
      makeAccount(installation, `customer-${String(account)}`, paths(account)),
    ),
  );
}

/** The p99 of the time from an event's report to its arrival, at all targets that do not hang. */
async function delayOf(customers: readonly Account[], installation: Installation): Promise<number> {
  const { receiver } = installation;
  const from = receiver.received.length;
  for (const { producer } of customers) producer.start(EVENTS_PER_S / ACCOUNTS);
  await sleep(PHASE_MS);
  await Promise.all(customers.map(({ producer }) => producer.finish()));
  await sleep(1_000);
  const delays: number[] = [];
  for (const { path, number, at } of receiver.received.slice(from)) {
    const account = customers.find(({ paths }) => paths.slice(1).includes(path));
    const accepted = account?.producer.accepted.get(number);
    if (accepted) delays.push(at - accepted.reportedAt);
  }
  return quantile(delays, 0.99);
}

function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((one, other) => one - other);
  return sorted[Math.floor(share * (sorted.length - 1))] ?? 0;
}

const median = (values: readonly number[]): number => quantile(values, 0.5);

let hang: { customers: Account[]; quiet: number[]; disturbed: number[] };
const slowdown = (): number => median(hang.disturbed) / median(hang.quiet);

/** One target of each account hangs. */
export const targetsHang: FaultCase = {
  name: 'targets-hang',
  about: '10 of 100 targets hang in every second round',
  producersNotice: 'nothing',
  duplicates: 'none',
  rate: 1,
  harm: async (installation) => {
    const { receiver } = installation;
    const customers = await customersOf(installation);
    hang = { customers, quiet: [], disturbed: [] };
    const hanging = new Set(customers.map(({ paths: [path] }) => path));
    await delayOf(customers, installation);
    for (let round = 0; round < ROUNDS; round += 1) {
      hang.quiet.push(await delayOf(customers, installation));
      receiver.answering = (arrival, response) => {
        if (!hanging.has(arrival.path)) confirm(arrival, response);
      };
      hang.disturbed.push(await delayOf(customers, installation));
      receiver.answering = confirm;
      await eventually(async () => (await installation.pending()) < 20, Boolean, {
        what: 'the delayed notifications have arrived',
        ms: 60_000,
      });
    }
  },
  check: (installation) => {
    const lost = lostOf(hang.customers, installation);
    const breaches = [
      [lost === 0, `${String(lost)} notifications of the ten accounts were lost`],
      [slowdown() <= NOTICEABLE, `the other targets waited ${slowdown().toFixed(2)} times as long`],
    ] as const;
    return Promise.resolve(breaches.filter(([holds]) => !holds).map(([, breach]) => breach));
  },
  notes: () => [
    `p99 of the targets that do not hang: ${slowdown().toFixed(2)} times the undisturbed p99`,
  ],
};

let dead: { most: number; whileOpen: number; tried: Set<string>; after: Arrival[] };

/** A target with a large backlog fails for long enough to open its circuit. */
export const targetDead: FaultCase = {
  name: 'target-dead',
  about: '20,000 deliveries wait for a dead target, which recovers once its circuit is open',
  producersNotice: 'nothing',
  duplicates: 'none',
  memory: BUSY_MEMORY,
  setup: {
    paths: ['/first', '/dead'],
    environment: () => ({ DELIVERY_CONCURRENCY: String(CALLS_AT_ONCE) }),
  },
  harm: async (installation) => {
    const { receiver, producer, targets } = installation;
    const subscription = targets.get('/dead')?.subscription ?? '';
    let isDead = true;
    let calls = 0;
    dead = { most: 0, whileOpen: 0, tried: new Set(), after: [] };
    receiver.answering = (arrival, response) => {
      if (arrival.path !== '/dead') {
        confirm(arrival, response);
        return;
      }
      calls += 1;
      dead.most = Math.max(dead.most, calls);
      response.on('close', () => (calls -= 1));
      if (isDead) response.writeHead(500).end();
      else setTimeout(() => confirm(arrival, response), 5);
    };
    const arrivals = () => receiver.received.filter(({ path }) => path === '/dead');
    const health = async () => {
      const shown = await installation.call<{ health: { state: string } }>('GET', subscription);
      return shown.health.state;
    };
    await producer.reportMany(BACKLOG);
    await eventually(async () => (await health()) === 'open', Boolean, {
      what: 'the circuit opens',
      ms: RECOVERY_MS,
    });
    await sleep(1_000);
    const before = arrivals().length;
    await sleep(5_000);
    dead.whileOpen = arrivals().length - before;
    dead.tried = new Set(arrivals().map(({ id }) => id));
    isDead = false;
    await eventually(async () => (await health()) === 'ok', Boolean, {
      what: 'the circuit closes',
      ms: RECOVERY_MS,
    });
    await eventually(async () => (await installation.pending()) < 1_000, Boolean, {
      what: 'nearly all deliveries are done',
      ms: 110_000,
    });
    dead.after = arrivals().filter(({ id }) => !dead.tried.has(id));
  },
  check: ({ workers }) => {
    const started = dead.after.map(({ id }) => id);
    const oldest = started.toSorted();
    // Concurrent calls may overtake each other.
    const slack = CALLS_AT_ONCE * workers.length;
    const early = new Set(oldest.slice(0, BACKLOG / 10 + slack));
    const overtaken = started.slice(0, BACKLOG / 10).filter((id) => !early.has(id)).length;
    const breaches = [
      [dead.most <= slack, `${String(dead.most)} concurrent calls`],
      [dead.whileOpen === 0, `${String(dead.whileOpen)} calls despite the open circuit`],
      [overtaken === 0, `${String(overtaken)} deliveries were sent out of order`],
    ] as const;
    return Promise.resolve(breaches.filter(([holds]) => !holds).map(([, breach]) => breach));
  },
  notes: ({ workers }) => [
    `sent oldest first, with at most ${String(dead.most)} concurrent calls ` +
      `(limit: ${String(CALLS_AT_ONCE * workers.length)})`,
  ],
};

let huge: { before: number[]; after: number[]; redisMb: number };
const rate = (): number => median(huge.before) / median(huge.after);

/** Half of the backlog is for paused subscriptions, half for targets that refuse connections. */
export const backlogHuge: FaultCase = {
  name: 'backlog-huge',
  about: '1,000,000 deliveries wait for paused subscriptions and dead targets',
  producersNotice: 'nothing',
  duplicates: 'none',
  memory: BUSY_MEMORY,
  rate: 0,
  harm: async (installation) => {
    const { postgres, redis } = installation;
    huge = { before: [], after: [], redisMb: 0 };
    await burst(installation);
    await settle(postgres);
    for (let made = 0; made < BURSTS; made += 1) huge.before.push(await burst(installation));
    await postgres.query(
      `WITH w AS (
         INSERT INTO webhooks (account_id, event, resource, target_url, enabled, secret, paused)
         SELECT $1, 'smsdlr', 'all', 'http://127.0.0.1:1024/', true, 'whsec_' || repeat('A', 44), n % 2 = 0
         FROM generate_series(1, $2::integer) n RETURNING id, account_id
       ),
       e AS (
         INSERT INTO events (id, account_id, event, resource, occurred_at, created_at, data)
         SELECT new_uuid(now(), 0), $1, 'smsdlr', 'sms', now(), now(), '{"number": 0}' RETURNING id
       )
       INSERT INTO deliveries (id, event_id, webhook_id, account_id, event, generation,
         next_attempt_at, created_at)
       SELECT new_uuid(now(), n), e.id, w.id, w.account_id, 'smsdlr', 1, now(), now()
       FROM w, e, generate_series(1, $3::integer) n`,
      [installation.accountId, SUBSCRIPTIONS, WAITING / SUBSCRIPTIONS],
    );
    await settle(postgres);
    // Until then, workers call the dead targets, which is extra work.
    await eventually(async () => (await closedCircuits(postgres)) === 0, Boolean, {
      what: 'the circuits open',
      ms: 90_000,
    });
    for (let made = 0; made < BURSTS; made += 1) huge.after.push(await burst(installation));
    const memory = String(await redis.command('INFO', 'memory'));
    huge.redisMb = Number(/used_memory:(\d+)/.exec(memory)?.[1]) / 2 ** 20;
    await postgres.query(`DELETE FROM deliveries WHERE event = 'smsdlr'`);
  },
  check: () => {
    const breaches = [
      [rate() >= LEAST_RATE, `the rate was ${rate().toFixed(2)} of the earlier rate`],
      [huge.redisMb <= MOST_REDIS_MB, `Redis took ${huge.redisMb.toFixed()} MB`],
    ] as const;
    return Promise.resolve(breaches.filter(([holds]) => !holds).map(([, breach]) => breach));
  },
  notes: () => [
    `accepted and delivered at ${rate().toFixed(2)} of the earlier rate; ` +
      `Redis takes ${huge.redisMb.toFixed()} MB`,
  ],
};

/** Makes conditions equal before and after: PostgreSQL logs whole pages after a checkpoint. */
async function settle(postgres: Postgres): Promise<void> {
  await postgres.query('VACUUM ANALYZE deliveries');
  await postgres.query('CHECKPOINT');
}

/** How many of the dead subscriptions may still be called. */
async function closedCircuits(postgres: Postgres): Promise<number> {
  const [row] = await postgres.query<{ count: number }>(
    `SELECT count(*)::integer AS count FROM webhooks
     WHERE event = 'smsdlr' AND NOT paused AND open_until IS NULL`,
  );
  return row?.count ?? 0;
}

/** Reports a burst of events. @returns the time until all were delivered, in ms */
async function burst({ producer, receiver, paths }: Installation): Promise<number> {
  const start = performance.now();
  const arrived = receiver.received.length + BURST * paths.length;
  await producer.reportMany(BURST);
  await eventually(() => receiver.received.length >= arrived, Boolean, {
    what: 'a burst is delivered',
    ms: 60_000,
  });
  return performance.now() - start;
}
