import type { Database } from '../harness/database.js';
import type { Account } from '../harness/deployment.js';
import { byTurns, ratios, type Scenario } from '../harness/scenario.js';

import { warmRate } from './worker.js';

const ACCOUNTS = 20;
const FEW = 10_000;
const MANY = 10_000_000;
const WAITING = 1_000_000;
const OTHER_SUBSCRIPTIONS = 100_000;
/** Deliveries of one stored event. */
const FAN_OUT = 10;

export const stored: Scenario = {
  name: 'stored',
  about: `${String(MANY)} stored deliveries and ${String(OTHER_SUBSCRIPTIONS)} subscriptions of others, against ${String(FEW)}`,
  async run(site, { rounds, seconds }) {
    const prepared = async (name: string, deliveries: number, others: number) => {
      const database = await site.database(name);
      const deployment = await site.deploy(database);
      const accounts = await deployment.accounts(ACCOUNTS);
      await fill(database, accounts, deliveries, 'succeeded');
      await fillSubscriptions(database, accounts[0]!, others);
      await database.pool.query('VACUUM ANALYZE');
      return async () => {
        const { rate } = await deployment.saturate(accounts, { seconds });
        await deployment.quiet();
        return { rate, end: () => deployment.end() };
      };
    };
    const many = await prepared('stored_many', MANY, OTHER_SUBSCRIPTIONS);
    const few = await prepared('stored_few', FEW, 0);
    await site.postgres.query('CHECKPOINT');
    const measured = await byTurns(rounds, { few, many });
    await measured.few[0]?.end();
    await measured.many[0]?.end();
    const rates = (of: { rate: number }[]) => of.map((one) => one.rate);
    return [
      {
        what: 'cost of a delivery, 10 million stored / 10 thousand',
        values: ratios(rates(measured.few), rates(measured.many)),
        unit: '',
        bound: { atMost: 1.1 },
      },
    ];
  },
};

export const backlog: Scenario = {
  name: 'backlog',
  about: `a worker with ${String(WAITING)} deliveries that wait, against ${String(WAITING / 50)}`,
  async run(site, { rounds, seconds }) {
    const prepared = async (name: string, waiting: number) => {
      const database = await site.database(name);
      const api = await site.deploy(database, { workers: 0 });
      const accounts = await api.accounts(ACCOUNTS);
      await api.end();
      return async () => {
        await database.pool.query('TRUNCATE events, deliveries, attempts');
        await fill(database, accounts, waiting, 'pending');
        await database.pool.query('VACUUM ANALYZE deliveries');
        await site.postgres.query('CHECKPOINT');
        await site.receiver.reset();
        const worker = await site.deploy(database, { apis: 0 });
        const rate = warmRate(await site.receiver.reached(Math.min(waiting, seconds * 4_000)));
        await worker.end();
        return rate;
      };
    };
    const measured = await byTurns(Math.min(rounds, 2), {
      few: await prepared('backlog_few', WAITING / 50),
      many: await prepared('backlog_many', WAITING),
    });
    return [
      {
        what: 'cost of a delivery, a million waiting / twenty thousand',
        values: ratios(measured.few, measured.many),
        unit: '',
      },
      { what: 'deliveries out of the backlog', values: measured.many, unit: '/s' },
    ];
  },
};

/** Stores events of today, each with deliveries, which have an attempt unless they are pending. */
async function fill(
  { pool }: Database,
  accounts: readonly Account[],
  deliveries: number,
  state: 'succeeded' | 'pending',
): Promise<void> {
  const account = `($1::bigint[])[1 + n % ${String(accounts.length)}]`;
  const ids = accounts.map(({ id }) => id);
  const webhooks = accounts.map(({ subscriptions: [path = ''] }) =>
    path.slice(path.lastIndexOf('/') + 1),
  );
  // Since midnight (UTC), the oldest first: all in the partition that is written to.
  const at = `date_trunc('day', now(), 'UTC') + (now() - date_trunc('day', now(), 'UTC')) * n / $2::float8`;
  const events = deliveries / FAN_OUT;
  await pool.query('DROP TABLE IF EXISTS filling');
  await pool.query(
    `CREATE TABLE filling AS
     SELECT n, new_uuid(${at}, 0) AS id, ${account} AS account_id, ${at} AS at
     FROM generate_series(1, $2::integer) n`
      .replaceAll('$2', String(events))
      .replaceAll('$1', `'{${ids.join(',')}}'`),
  );
  await pool.query(
    `INSERT INTO events (id, account_id, event, resource, occurred_at, created_at, data)
     SELECT id, account_id, 'cdrCreated', 'call', at, at, '{"text":"' || repeat('x', 900) || '"}'
     FROM filling`,
  );
  await pool.query(
    `INSERT INTO deliveries (id, event_id, webhook_id, account_id, event, generation, attempts,
       state, next_attempt_at, created_at, completed_at, takes)
     SELECT new_uuid(at, k), id, ($1::bigint[])[1 + n % cardinality($1::bigint[])], account_id,
       'cdrCreated', 1, CASE $2 WHEN 'pending' THEN 0 ELSE 1 END, $2,
       CASE $2 WHEN 'pending' THEN at END, at, CASE $2 WHEN 'pending' THEN NULL ELSE at END,
       CASE $2 WHEN 'pending' THEN 0 ELSE 1 END
     FROM filling CROSS JOIN generate_series(1, $3::integer) k`,
    [webhooks, state, FAN_OUT],
  );
  if (state === 'pending') return;
  await pool.query(
    `INSERT INTO attempts (delivery_id, take, number, at, duration_ms, status, address, response_headers)
     SELECT id, 1, 1, created_at, 5, 200, '192.0.2.1', '{"content-length":"0"}' FROM deliveries`,
  );
}

/** Subscriptions of other accounts, to the same event, like the one of an account. */
async function fillSubscriptions({ pool }: Database, like: Account, count: number): Promise<void> {
  if (count === 0) return;
  const { rows } = await pool.query<{ id: string }>(
    `INSERT INTO users (username, role, status, salt)
     SELECT 'other-' || n, 'account', 'active', '' FROM generate_series(1, $1::integer) n RETURNING id`,
    [count / FAN_OUT],
  );
  await pool.query(
    `INSERT INTO webhooks (account_id, event, resource, target_url, enabled, secret)
     SELECT u, w.event, w.resource, w.target_url, true, w.secret
     FROM unnest($1::bigint[]) u CROSS JOIN generate_series(1, $2::integer) n
     CROSS JOIN (SELECT * FROM webhooks WHERE account_id = $3) w`,
    [rows.map(({ id }) => id), FAN_OUT, like.id],
  );
}
