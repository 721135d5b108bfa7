import { setTimeout as sleep } from 'node:timers/promises';
import { costOfEvent, cpuOf, ofProduct, PARTS, used } from '../harness/cost.js';
import { type Deployment, eventText } from '../harness/deployment.js';
import { LoadGenerator } from '../harness/load.js';
import { byTurns, ratios, type Scenario } from '../harness/scenario.js';
import type { Site } from '../harness/site.js';

const ACCOUNTS = 20;
const AT_ONCE = 64;
/** PostgreSQL's backends report their statistics after a second of idleness. */
const COUNTED_AFTER_MS = 1_500;

export const single: Scenario = {
  name: 'single',
  about:
    'accepted one by one and delivered to twenty subscriptions, against a bare handler that posts on',
  async run(site, { rounds, seconds }) {
    const deployment = await site.deploy(await site.database('single'));
    const accounts = await deployment.accounts(ACCOUNTS);
    const bare = await site.baseline('post-on', `${site.receiver.url}/now/bare`);
    const load = new LoadGenerator([bare.origin], AT_ONCE);
    const measured = await byTurns(rounds, {
      ours: async () => {
        const before = await written(deployment);
        const costBefore = used(site, deployment);
        const delivered = await deployment.saturate(accounts, { seconds });
        await deployment.quiet();
        const { cpu } = costOfEvent(costBefore, used(site, deployment), delivered.events);
        const after = await written(deployment);
        const statements = (after.transactions - before.transactions) / delivered.events;
        const walBytes = (after.walBytes - before.walBytes) / delivered.events;
        return { ...delivered, statements, walBytes, cpu };
      },
      bare: async () => {
        const next = (dueAt: number) => ({
          method: 'POST' as const,
          path: '/v1/events',
          headers: { 'content-type': 'application/json' },
          body: eventText('bare', '"accountId":"1"', dueAt),
        });
        const cpuBefore = cpuOf([bare.pid]);
        const { calls, seconds: took } = await load.closed(next, AT_ONCE, seconds);
        const rate = calls / took;
        const cpu = [(cpuOf([bare.pid]) - cpuBefore) / calls];
        return { rate, acceptRate: rate, statements: 0, walBytes: 0, cpu };
      },
    });
    const memory = deployment.memory('peak');
    load.close();
    await deployment.end();
    bare.end();
    const ours = measured.ours.map(({ rate }) => rate);
    const statements = measured.ours.map((one) => one.statements);
    return [
      {
        what: 'accepted and delivered, one by one / bare post-on',
        values: ratios(
          ours,
          measured.bare.map(({ rate }) => rate),
        ),
        unit: '',
        bound: { atLeast: 0.9 },
      },
      { what: 'accepted and delivered', values: ours, unit: 'events/s' },
      {
        what: 'accepted meanwhile',
        values: measured.ours.map(({ acceptRate }) => acceptRate),
        unit: 'events/s',
      },
      { what: 'statements for an event', values: statements, unit: '', bound: { atMost: 0.1 } },
      {
        what: 'log of PostgreSQL (WAL) for an event',
        values: measured.ours.map(({ walBytes }) => walBytes / 1_024),
        unit: 'KB',
      },
      ...PARTS.map((name, index) => ({
        what: `CPU for an event: ${name}`,
        values: measured.ours.map(({ cpu }) => cpu[index] ?? NaN),
        unit: 'µs',
      })),
      {
        what: 'CPU for an event: bare post-on',
        values: measured.bare.map(({ cpu }) => cpu[0] ?? NaN),
        unit: 'µs',
      },
      { what: 'peak memory of the API', values: [memory.api], unit: 'MB', bound: { atMost: 200 } },
      {
        what: 'peak memory of the worker',
        values: [memory.worker],
        unit: 'MB',
        bound: { atMost: 200 },
      },
    ];
  },
};

export const batch: Scenario = {
  name: 'batch',
  about: 'batches of 100 against one by one',
  async run(site, { rounds, seconds }) {
    const database = await site.database('batch');
    const whole = await site.deploy(database);
    const accounts = await whole.accounts(ACCOUNTS);
    const delivering = await byTurns(rounds, {
      single: () => whole.saturate(accounts, { seconds }),
      batch: () => whole.saturate(accounts, { seconds, eventsEach: 100, atOnce: 4 }),
    });
    await whole.end();
    const alone = await site.deploy(database, { workers: 0 });
    const accept = async (eventsEach: number, atOnce: number) => {
      const before = used(site, alone);
      const load = await alone.closed(alone.reporting(accounts, eventsEach), seconds, atOnce);
      const events = load.calls * eventsEach;
      const { cpu } = costOfEvent(before, used(site, alone), events);
      return { rate: events / load.seconds, cpu: ofProduct(cpu) };
    };
    const accepting = await byTurns(rounds, {
      single: () => accept(1, AT_ONCE),
      batch: () => accept(100, 4),
    });
    await alone.end();
    const rates = (of: { rate: number }[]) => of.map((one) => one.rate);
    const cpus = (of: { cpu: number }[]) => of.map((one) => one.cpu);
    return [
      {
        what: 'accepted, batches of 100 / one by one',
        values: ratios(rates(accepting.batch), rates(accepting.single)),
        unit: '',
      },
      {
        what: 'accepted and delivered, batches of 100 / one by one',
        values: ratios(rates(delivering.batch), rates(delivering.single)),
        unit: '',
        bound: { atLeast: 1.5 },
      },
      { what: 'accepted one by one, no worker', values: rates(accepting.single), unit: 'events/s' },
      { what: 'accepted in batches, no worker', values: rates(accepting.batch), unit: 'events/s' },
      {
        what: 'CPU for an event, one by one, no worker',
        values: cpus(accepting.single),
        unit: 'µs',
      },
      {
        what: 'CPU for an event, in batches, no worker',
        values: cpus(accepting.batch),
        unit: 'µs',
      },
    ];
  },
};

export const fanOut: Scenario = {
  name: 'fan-out',
  about: 'one, five and twenty subscriptions for an event',
  async run(site, { rounds, seconds }) {
    const deployment = await site.deploy(await site.database('fan_out'));
    const measurement = async (subscriptions: number) => {
      const accounts = await deployment.accounts(ACCOUNTS / 4, 'now', subscriptions);
      return async () => {
        const { rate } = await deployment.saturate(accounts, { seconds: seconds / 2, atOnce: 16 });
        await deployment.quiet();
        return rate * subscriptions;
      };
    };
    const measured = await byTurns(rounds, {
      one: await measurement(1),
      five: await measurement(5),
      twenty: await measurement(20),
    });
    await deployment.end();
    return [
      { what: 'deliveries, five / one', values: ratios(measured.five, measured.one), unit: '' },
      { what: 'deliveries, twenty / one', values: ratios(measured.twenty, measured.one), unit: '' },
    ];
  },
};

export const latency: Scenario = {
  name: 'latency',
  about: 'from accepting to the first byte at the target, against an idle bare post',
  async run(site, { rounds, seconds }) {
    const deployment = await site.deploy(await site.database('latency'));
    const accounts = await deployment.accounts(ACCOUNTS);
    const bare = await site.baseline('post-on', `${site.receiver.url}/now/bare`);
    const load = new LoadGenerator([bare.origin], AT_ONCE);
    await deployment.saturate(accounts, { seconds });
    const { rate: ceiling } = await deployment.saturate(accounts, { seconds });
    await deployment.quiet();
    const idleRate = 50;
    const next = (dueAt: number) => ({
      method: 'POST' as const,
      path: '/v1/events',
      headers: { 'content-type': 'application/json' },
      body: eventText('bare', '"accountId":"1"', dueAt),
    });
    const measured = await byTurns(rounds, {
      half: () =>
        firstByte(site, () =>
          deployment.open(deployment.reporting(accounts), ceiling / 2, seconds),
        ),
      idle: () => firstByte(site, () => load.open(next, idleRate, 2 * seconds)),
    });
    load.close();
    await deployment.end();
    bare.end();
    const p50 = (of: { p50: number }[]) => of.map((one) => one.p50);
    const p99 = (of: { p99: number }[]) => of.map((one) => one.p99);
    return [
      {
        what: 'p50 at half load / idle bare post',
        values: ratios(p50(measured.half), p50(measured.idle)),
        unit: '',
        bound: { atMost: 4 },
      },
      {
        what: 'p99 at half load / idle bare post',
        values: ratios(p99(measured.half), p99(measured.idle)),
        unit: '',
        bound: { atMost: 8 },
      },
      { what: 'p50 at half load', values: p50(measured.half).map((us) => us / 1_000), unit: 'ms' },
      { what: 'p99 at half load', values: p99(measured.half).map((us) => us / 1_000), unit: 'ms' },
    ];
  },
};

/** The receiver's view of a load, once all of it has arrived. */
export async function firstByte(site: Site, load: () => Promise<{ calls: number }>) {
  await site.receiver.reset();
  const { calls } = await load();
  await site.receiver.reached(calls);
  return site.receiver.latencyUs();
}

/**
 * A database's totals so far: transactions, each of which is one statement on the path of an event, and bytes of the
 * server's log.
 */
export async function written({
  database,
}: Deployment): Promise<{ transactions: number; walBytes: number }> {
  await sleep(COUNTED_AFTER_MS);
  const { rows } = await database.pool.query<{ transactions: string; wal: string }>(
    `SELECT xact_commit AS transactions, pg_current_wal_insert_lsn() - '0/0' AS wal
     FROM pg_stat_database WHERE datname = $1`,
    [database.name],
  );
  return { transactions: Number(rows[0]?.transactions), walBytes: Number(rows[0]?.wal) };
}
