import { setTimeout as sleep } from 'node:timers/promises';
import type { Database } from '../harness/database.js';
import { type Account, type Deployment, PLATFORM } from '../harness/deployment.js';
import { fill, fillApplications, fillSubscriptions, makePartitions } from '../harness/filling.js';
import { resultOf, tableOf } from '../harness/report.js';
import { byTurns, ratios, type Row, type Scenario } from '../harness/scenario.js';
import type { Site } from '../harness/site.js';
import { basic } from '../../support/http.js';
import { faultsOfStatements } from './growth-plans.js';

const ACCOUNTS = 20;
const SMALL = { deliveries: 10_000, days: 30, subscriptions: 0, applications: 10 };
const LARGE = {
  deliveries: 10_000_000,
  days: 1_100,
  subscriptions: 100_000,
  applications: 1_000_000,
};
const READ_SECONDS = 0.4;
/** After this pause, the platform's overview is read anew instead of from its cache. */
const OVERVIEW_MS = 2_100;
const OVERVIEW = '/v1/overview';
/** Long enough to retain everything that is stored. */
const KEEPS_ALL = { RETENTION_DAYS: '1100' };

/** A database with stored data. */
interface Grown {
  database: Database;
  deployment: Deployment;
  busiest: Account;
  /** The account with most applications. */
  builder: Account;
  accounts: Account[];
}

export const growth: Scenario = {
  name: 'growth',
  about: `${String(LARGE.deliveries)} stored deliveries of ${String(LARGE.days)} days, against ${String(SMALL.deliveries)} of ${String(SMALL.days)}; and what every statement reads there`,
  settings: { shared_preload_libraries: 'auto_explain' },
  async run(site, { rounds, seconds }) {
    const large = await grown(site, 'growth_large', LARGE);
    const small = await grown(site, 'growth_small', SMALL);
    const size = await sizes(large.database);
    await site.postgres.query('CHECKPOINT');
    const rate = (of: Grown) => async () => {
      const done = await of.deployment.saturate(of.accounts, { seconds });
      await of.deployment.quiet();
      return done.rate;
    };
    const rates = await byTurns(rounds, { small: rate(small), large: rate(large) });
    const rows: Row[] = [
      {
        what: 'cost of a delivery, 10 million stored / 10 thousand',
        values: ratios(rates.small, rates.large),
        unit: '',
        bound: { atMost: 1.1 },
      },
      ...(await reads(rounds, small, large)),
      ...size,
    ];
    await small.deployment.end();
    await large.deployment.end();
    const faults = await faultsOfStatements(site, large.database, large);
    if (faults.length === 0) return rows;
    console.error(tableOf(rows.map((row) => resultOf('growth', row))));
    throw new Error(`${String(faults.length)} faults\n  ${faults.join('\n  ')}`);
  },
};

async function grown(site: Site, name: string, size: typeof LARGE): Promise<Grown> {
  const database = await site.database(name, KEEPS_ALL);
  await makePartitions(database, size.days);
  const deployment = await site.deploy(database);
  const accounts = await deployment.accounts(ACCOUNTS);
  const [busiest, builder] = accounts as [Account, Account];
  await fill(database, accounts, { ...size, state: 'succeeded' });
  await fillSubscriptions(database, busiest, size.subscriptions);
  await fillApplications(database, busiest, SMALL.applications);
  await fillApplications(database, builder, size.applications);
  await database.pool.query('VACUUM ANALYZE');
  return { database, deployment, accounts, busiest, builder };
}

/** The time until a client has its answer, large / small. */
async function reads(rounds: number, small: Grown, large: Grown): Promise<Row[]> {
  const rows: Row[] = [];
  const paths = await Promise.all([pathsOf(small), pathsOf(large)]);
  for (const what of Object.keys(paths[0])) {
    const measure = (of: Grown, index: number) => async () => {
      const [path, authorization] = paths[index]![what]!;
      const next = () => ({ method: 'GET' as const, path, headers: { authorization } });
      if (path === OVERVIEW) await sleep(OVERVIEW_MS);
      const { latencyUs } = await of.deployment.closed(next, READ_SECONDS, 1);
      return path === OVERVIEW ? latencyUs.max : latencyUs.p50;
    };
    const measured = await byTurns(rounds, { small: measure(small, 0), large: measure(large, 1) });
    rows.push({
      what: `${what}, large / small`,
      values: ratios(measured.large, measured.small),
      unit: '',
    });
  }
  return rows;
}

/** The requests, and their users. */
async function pathsOf(of: Grown): Promise<Record<string, [path: string, authorization: string]>> {
  const { busiest, builder, database } = of;
  const webhook = busiest.subscriptions[0]!;
  const id = webhook.slice(webhook.lastIndexOf('/') + 1);
  const delivery = await oneOf(
    database,
    `SELECT id FROM deliveries WHERE webhook_id = ${id} AND id >= $1 AND state = 'exhausted' LIMIT 1`,
  );
  const application = await oneOf(
    database,
    `SELECT id FROM (SELECT id FROM applications WHERE user_id = ${builder.id} ORDER BY id DESC LIMIT 6) a
     WHERE $1 = $1 ORDER BY id LIMIT 1`,
  );
  const mine = (path: string): [string, string] => [path, busiest.authorization];
  const built = (path: string): [string, string] => [path, builder.authorization];
  return {
    'list of deliveries': mine('/v1/deliveries?limit=100'),
    'list of exhausted deliveries': mine(`${webhook}/deliveries?state=exhausted&limit=100`),
    'a delivery with its attempts': mine(`/v1/deliveries/${delivery}`),
    'list of events': mine('/v1/events?limit=100'),
    'statistics of a subscription': mine(`${webhook}/stats`),
    'list of subscriptions': mine('/v1/webhooks'),
    'an application': built(`/v1/applications/${application}`),
    'applications, first page': built('/v1/applications?limit=5'),
    'applications, last page': built(`/v1/applications?limit=5&after=${application}`),
    'overview of the platform': [OVERVIEW, basic(PLATFORM)],
  };
}

/**
 * @param text has today's least id as its value
 */
async function oneOf({ pool }: Database, text: string): Promise<string> {
  const least = `SELECT least_uuid(date_trunc('day', now(), 'UTC')) AS id`;
  const { rows } = await pool.query<{ id: string }>(least);
  const found = await pool.query<{ id: string }>(text, [rows[0]?.id]);
  return found.rows[0]?.id ?? '';
}

/** The size of today's partitions, which scales to any number of deliveries. */
async function sizes({ pool }: Database): Promise<Row[]> {
  await pool.query('CREATE EXTENSION pageinspect');
  const { rows } = await pool.query<{ bytes: number; levels: number }>(
    `SELECT levels::float8, sum(bytes) / (SELECT reltuples FROM pg_class WHERE oid = to_regclass('deliveries_' || day)) AS bytes
     FROM (SELECT to_char(now() AT TIME ZONE 'UTC', 'YYYYMMDD') AS day) d,
       LATERAL (
         SELECT pg_total_relation_size(to_regclass(parent || '_' || day)) AS bytes
         FROM unnest(ARRAY['events', 'deliveries', 'attempts']) parent
       ) s,
       LATERAL (SELECT level + 1 AS levels FROM bt_metap(
         (SELECT indexrelid::regclass::text FROM pg_index
          WHERE indisprimary AND indrelid = to_regclass('deliveries_' || day)))
       ) m
     GROUP BY levels, day`,
  );
  const { bytes = NaN, levels = NaN } = rows[0] ?? {};
  return [
    { what: 'stored for a delivery, with a tenth of its event', values: [bytes], unit: 'bytes' },
    { what: "levels of the primary key of today's deliveries", values: [levels], unit: '' },
  ];
}
