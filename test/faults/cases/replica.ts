import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { eventually } from '#tools/eventually';
import type { FaultCase } from '../harness/fault-case.js';
import type { Installation } from '../harness/installation.js';
import { keyOf } from '../harness/receiver.js';
import { Postgres } from '../../support/stores.js';

/** The replica's lag when it is promoted. */
const BEHIND_MS = 1_500;
const AFTERWARDS_MS = 5_000;

/** The events that the asynchronous replica had when it was promoted, and the time of the promotion. */
let replicated: Set<string>;
let promotedAt: number;

/** Numbers of the events that the primary accepted and the replica never received. */
function notReplicated({ producer }: Installation): number[] {
  return [...producer.accepted]
    .filter(([, { eventId }]) => timeOf(eventId) < promotedAt && !replicated.has(eventId))
    .map(([number]) => number);
}

/** When PostgreSQL created an id (UUIDv7). The answer may arrive after the server has died. */
function timeOf(id: string): number {
  return parseInt(id.replace('-', '').slice(0, 12), 16);
}

async function storedIn(postgres: Postgres): Promise<Set<string>> {
  const rows = await postgres.query<{ id: string }>('SELECT id FROM events');
  return new Set(rows.map(({ id }) => id));
}

/** The primary is lost with all unreplicated data, and the replica takes its place. */
export const replicaPromoted: FaultCase = {
  name: 'replica-promoted',
  about:
    'PostgreSQL: kill -9 of the primary and promotion of its asynchronous replica, which is 1.5 s ' +
    'behind: only unreplicated data is lost',
  producersNotice: 'unavailable',
  duplicates: 'explained',
  // The receiver shares the process that starts the replica, which delays it.
  setup: { environment: () => ({ DELIVERY_TIMEOUT_MS: '8000' }) },
  harm: async (installation) => {
    const { postgres } = installation;
    const replica = await postgres.replicate(join(postgres.dir, 'replica'));
    await eventually(() => isInStep(postgres), Boolean, { what: 'the replica has caught up' });
    await sleep(AFTERWARDS_MS);
    await installation.harming('cut off', 'all', async () => {
      await stopSending(postgres);
      await sleep(BEHIND_MS);
      await postgres.kill();
      await replica.query('SELECT pg_promote()');
      promotedAt = Date.now();
      replicated = await storedIn(replica);
      postgres.moveTo(replica);
    });
    await sleep(AFTERWARDS_MS);
  },
  // Some of these arrived before. An asynchronous replica loses the others.
  excused: (installation) => {
    const lost = notReplicated(installation);
    const keys = installation.paths.flatMap((path) =>
      lost.map((number) => keyOf({ path, number })),
    );
    return Promise.resolve(new Set(keys));
  },
  check: async (installation) => {
    const { producer, postgres } = installation;
    const excused = new Set(notReplicated(installation));
    const stored = await storedIn(postgres);
    const accepted = [...producer.accepted];
    const lost = accepted.filter(
      ([number, { eventId }]) => !stored.has(eventId) && !excused.has(number),
    );
    const isLater = ([, { eventId }]: (typeof accepted)[number]) => timeOf(eventId) > promotedAt;
    return [
      ...(excused.size > 0 ? [] : ['the replica had no lag']),
      ...(lost.length === 0 ? [] : [`${String(lost.length)} events are not stored`]),
      ...(accepted.some(isLater) ? [] : ['nothing was accepted after the promotion']),
    ];
  },
  notes: (installation) => [
    `${String(notReplicated(installation).length)} events had been accepted and not replicated`,
  ],
};

/** How long nobody notices that the primary is lost. */
const UNNOTICED_MS = 2_000;

/** The primary is lost, its synchronous standby is promoted, and every process finds it by itself. */
export const failover: FaultCase = {
  name: 'failover',
  about:
    'PostgreSQL: kill -9 of the primary and promotion of its synchronous standby, the second host in ' +
    'DATABASE_URL; the lost host returns as the standby: nothing is lost, and no process is restarted',
  producersNotice: 'unavailable',
  duplicates: 'explained',
  // Like above, because of the standby that takes the place of the lost server.
  setup: { standby: true, environment: () => ({ DELIVERY_TIMEOUT_MS: '8000' }) },
  leftOut: { pgbouncer: 'PgBouncer has the address of one host' },
  harm: async (installation) => {
    const { port } = installation.postgres.url;
    await failOver(installation);
    await sleep(AFTERWARDS_MS);
    await addStandby(installation, Number(port));
  },
  check: (installation) => checkStored(installation),
};

/** Events in the old primary, when it was started again and when it was stopped. */
let inOldPrimary: [number, number];

/** A second failover, and in between the old primary takes writes. */
export const failoverTwice: FaultCase = {
  name: 'failover-twice',
  about:
    'PostgreSQL: like failover; then the old primary is started again, its synchronous setting is cleared, and an API is ' +
    'killed; then a second failover, back to its host: nothing is lost, and the old primary gets no event',
  producersNotice: 'either',
  duplicates: 'explained',
  setup: { standby: true, environment: () => ({ DELIVERY_TIMEOUT_MS: '8000' }) },
  leftOut: { pgbouncer: 'PgBouncer has the address of one host' },
  harm: async (installation) => {
    const { postgres, programs, apis } = installation;
    const port = Number(postgres.url.port);
    const old = new Postgres(postgres.dir, programs, {}, undefined, port);
    await failOver(installation);
    await old.start();
    await old.query(`ALTER SYSTEM SET synchronous_standby_names = ''`);
    await old.query('SELECT pg_reload_conf()');
    const before = (await storedIn(old)).size;
    await installation.killAndRestart(apis.slice(0, 1), 0);
    await sleep(AFTERWARDS_MS);
    inOldPrimary = [before, (await storedIn(old)).size];
    await old.stop();
    await addStandby(installation, port);
    await sleep(AFTERWARDS_MS);
    const { port: second } = postgres.url;
    await failOver(installation);
    await addStandby(installation, Number(second));
    await sleep(AFTERWARDS_MS);
  },
  check: async (installation) => {
    const [before, after] = inOldPrimary;
    return [
      ...(await checkStored(installation)),
      ...(after === before ? [] : [`the old primary got ${String(after - before)} events`]),
    ];
  },
};

async function failOver(installation: Installation): Promise<void> {
  const { postgres, standby } = installation;
  if (!standby) throw new Error('there is no standby');
  await installation.harming('cut off', 'all', async () => {
    await postgres.kill();
    await sleep(UNNOTICED_MS);
    await standby.query('SELECT pg_promote()');
    promotedAt = Date.now();
    postgres.moveTo(standby);
  });
}

/** Commits wait for it from then on. @param port that of the lost host */
async function addStandby(installation: Installation, port: number): Promise<void> {
  const { postgres } = installation;
  const dir = join(postgres.dir, 'standby');
  installation.standby = await postgres.replicate(dir, { isSynchronous: true, port });
}

async function checkStored({ producer, postgres }: Installation): Promise<string[]> {
  const stored = await storedIn(postgres);
  const accepted = [...producer.accepted.values()].map(({ eventId }) => eventId);
  const lost = accepted.filter((id) => !stored.has(id)).length;
  const isLater = accepted.some((id) => timeOf(id) > promotedAt);
  return [
    ...(lost === 0 ? [] : [`${String(lost)} events are not stored`]),
    ...(isLater ? [] : ['nothing was accepted after the promotion']),
  ];
}

async function isInStep(postgres: Postgres): Promise<boolean> {
  const [row] = await postgres.query<{ inStep: boolean }>(
    'SELECT bool_and(replay_lsn = pg_current_wal_lsn()) AS "inStep" FROM pg_stat_replication',
  );
  return row?.inStep ?? false;
}

/** Stops the primary from sending data to its replica, like a slow network. */
async function stopSending(postgres: Postgres): Promise<void> {
  const senders = await postgres.query<{ pid: number }>('SELECT pid FROM pg_stat_replication');
  for (const { pid } of senders) process.kill(pid, 'SIGSTOP');
}
