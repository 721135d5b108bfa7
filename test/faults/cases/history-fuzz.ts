import type { ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import type { FaultCase } from '../harness/fault-case.js';
import { Customer } from '../harness/history/customer.js';
import type { Installation, Setup } from '../harness/installation.js';
import { Random } from '../harness/random.js';
import type { Answering } from '../../support/receiver.js';
import { type Arrival, confirm, keyOf } from '../harness/receiver.js';

const FUZZ_MS = 60_000;
const CUSTOMERS = 3;
const PATHS = ['/a', '/b', '/c', '/d', '/e', '/f'];
const SCHEDULE = [300, 600, 1_000, 1_000, 2_000];
const TIMEOUT_MS = 2_000;
const PAST_LEASE_MS = TIMEOUT_MS + 15_000 + 2_000;
/** Shorter than the time within which the checker expects an outcome to be recorded. */
const LONGEST_LOCK_MS = 2_000;
/** Leases of killed workers end, and circuits close, within this time. */
const LATEST_MS = 40_000;

type Behaviour = (response: ServerResponse, random: Random, arrival: Arrival) => void;

const confirms: Behaviour = (response, _, arrival) => confirm(arrival, response);

const fails =
  (status: number, headers: Record<string, string> = {}): Behaviour =>
  (response) =>
    void response.writeHead(status, headers).end();

const slowly =
  (behaviour: Behaviour): Behaviour =>
  (response, random, arrival) =>
    void setTimeout(() => behaviour(response, random, arrival), random.between(50, TIMEOUT_MS / 2));

const breaksOff: Behaviour = (response, _, arrival) =>
  void response.writeHead(200, { 'content-length': '2' }).write('{', (error) => {
    if (!error) arrival.confirmedAt = Date.now();
    response.socket?.destroySoon();
  });

/** How receivers misbehave, with the share of each; all other calls are confirmed at once. */
const BEHAVIOURS: readonly [share: number, behaviour: Behaviour][] = [
  [0.15, fails(500)],
  [0.04, slowly(fails(500))],
  [0.02, fails(429, { 'retry-after': '1' })],
  [0.02, fails(503, { 'retry-after': '2' })],
  [0.03, fails(503)],
  [0.05, ({ socket }) => socket?.resetAndDestroy()],
  [0.03, () => undefined],
  [0.05, breaksOff],
  [0.1, slowly(confirms)],
];

/** While slow, answers take longer, so many calls are in flight when a process is frozen or killed. */
const traffic = { isSlow: false };
const SLOWED_MS = { least: 200, most: 800 };

/** With the same seed, a call gets the same answer in every run. */
function flaky(seed: number): Answering<Arrival> {
  return (arrival, response) => {
    const { path, number, earlier } = arrival;
    const call = (number * PATHS.length + PATHS.indexOf(path)) * 1_000 + earlier;
    const random = new Random(seed + Math.imul(call, 0x9e3779b1));
    const behave = behaviourOf(random.next());
    const delay = random.between(SLOWED_MS.least, SLOWED_MS.most);
    if (traffic.isSlow) setTimeout(() => behave(response, random, arrival), delay);
    else behave(response, random, arrival);
  };
}

/** @param dice from 0 to 1 */
function behaviourOf(dice: number): Behaviour {
  let from = 0;
  for (const [share, behaviour] of BEHAVIOURS) {
    from += share;
    if (dice < from) return behaviour;
  }
  return confirms;
}

/** Injects a fault while many calls are in flight. */
async function underWay(harm: () => Promise<unknown>): Promise<void> {
  traffic.isSlow = true;
  await sleep(SLOWED_MS.most);
  const harming = harm();
  traffic.isSlow = false;
  await harming;
}

/** Kills and freezes processes, and locks rows, one after the other. */
async function harmUntil(end: number, installation: Installation, random: Random): Promise<void> {
  const { apis, workers } = installation;
  const harms = [
    () =>
      underWay(() =>
        installation.killAndRestart([random.oneOf(workers)], random.between(0, 1_000)),
      ),
    () => underWay(() => freeze(installation, [random.oneOf(workers)], random.between(200, 3_000))),
    () => freeze(installation, [random.oneOf(apis)], random.between(200, 3_000)),
    () => lock(installation, 'webhooks', 1, random),
    () => lock(installation, `deliveries WHERE state = 'pending'`, 5, random),
  ];
  while (Date.now() < end) {
    await random.oneOf(harms)();
    await sleep(random.between(300, 1_500));
  }
}

async function freeze(
  installation: Installation,
  processes: Installation['workers'],
  ms: number,
): Promise<void> {
  await installation.harming('frozen', processes, async () => {
    for (const process of processes) process.signal('SIGSTOP');
    await sleep(ms);
    for (const process of processes) process.signal('SIGCONT');
  });
}

/** Locks rows for a while, like an operator who leaves a transaction open. */
async function lock(
  { postgres }: Installation,
  rows: string,
  count: number,
  random: Random,
): Promise<void> {
  const client = await postgres.connect();
  try {
    await client.query(`BEGIN`);
    await client.query(
      `SELECT FROM ${rows} ORDER BY random() LIMIT ${count} FOR UPDATE SKIP LOCKED`,
    );
    await sleep(random.between(200, LONGEST_LOCK_MS));
    await client.query(`COMMIT`);
  } finally {
    await client.end();
  }
}

const fuzz = (
  one: Pick<FaultCase, 'name' | 'about' | 'rate' | 'latestMs'> & Pick<Setup, 'subscription'>,
): FaultCase => ({
  name: one.name,
  about: one.about,
  rate: one.rate!,
  producersNotice: 'either',
  duplicates: 'explained',
  ...(one.latestMs !== undefined && { latestMs: one.latestMs }),
  setup: {
    paths: PATHS,
    ...(one.subscription && { subscription: one.subscription }),
    schedule: SCHEDULE,
    environment: () => ({ DELIVERY_TIMEOUT_MS: String(TIMEOUT_MS) }),
  },
  harm: async (installation, random) => {
    const { receiver, workers } = installation;
    const branch = () => new Random(random.next() * 2 ** 32);
    receiver.answering = flaky(random.next() * 2 ** 32);
    const customers = Array.from({ length: CUSTOMERS }, () => new Customer(installation, branch()));
    const end = Date.now() + FUZZ_MS;
    const frozen = workers.slice(-1);
    const acting = customers.map((customer) => customer.actUntil(end));
    // First, a worker is frozen until its leases have ended; then random faults follow.
    await sleep(random.between(1_000, 5_000));
    await underWay(() => freeze(installation, frozen, PAST_LEASE_MS));
    await harmUntil(end, installation, branch());
    await Promise.all(acting);
    for (const customer of customers) await customer.settle();
    receiver.answering = confirm;
  },
  excused: async ({ producer, postgres, paths, targets }) => {
    const rows = await postgres.query<{ event_id: string; webhook_id: string }>(
      `SELECT event_id, webhook_id FROM deliveries WHERE state = 'succeeded'`,
    );
    const succeeded = new Set(rows.map((row) => `${row.webhook_id} ${row.event_id}`));
    const events = [...producer.accepted];
    const unsent = paths.flatMap((path) => {
      const webhook = targets.get(path)?.subscription.split('/').at(-1) ?? '';
      return events
        .filter(([, { eventId }]) => !succeeded.has(`${webhook} ${eventId}`))
        .map(([number]) => keyOf({ path, number }));
    });
    return new Set(unsent);
  },
  notes: ({ actions, harms }) => [`actions: ${tally(actions)}; faults: ${tally(harms)}`],
});

const ABOUT =
  'a minute of random customer actions (pause, cancel, send now, redeliver, replay, switch off and ' +
  'on, change the target) with flaky receivers, kills, freezes and locks';

export const historyFuzz = fuzz({
  name: 'history-fuzz',
  about: ABOUT,
  rate: 8,
  latestMs: LATEST_MS,
});

/** Few events: each delivery waits for those before it, with all their attempts. */
export const orderedFuzz = fuzz({
  name: 'ordered-fuzz',
  about: `the same with ordered subscriptions: ${ABOUT}`,
  rate: 2,
  subscription: () => ({ ordered: true }),
});

function tally(items: readonly { kind: string }[]): string {
  const counts = new Map<string, number>();
  for (const { kind } of items) counts.set(kind, (counts.get(kind) ?? 0) + 1);
  return [...counts].map(([kind, count]) => `${kind} ${count}`).join(', ');
}
