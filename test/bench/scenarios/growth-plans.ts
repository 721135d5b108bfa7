import { setTimeout as sleep } from 'node:timers/promises';
import type { Database } from '../harness/database.js';
import type { Account, Deployment } from '../harness/deployment.js';
import { makeDays } from '../harness/filling.js';
import { excesses, LOGGED, preparedStatements, readLog } from '../harness/plans.js';
import type { Site } from '../harness/site.js';
import { CLOSED, tour } from './growth-tour.js';

/** Older than all retained data. */
const TOO_OLD = 1_110;
/** Background tasks run at least every ten seconds, some only at the start. */
const BACKGROUND_MS = 20_000;

/** Prepared statements that the tour does not reach, with the reason. */
const NOT_REACHED: Record<string, string> = {
  'pending.end-without-event': 'an event was removed before its delivery',
  ...Object.fromEntries(
    ['start', 'start_of_account', 'earlier', 'earlier_of_account'].map((name) => [
      `replays.${name}`,
      'it runs, but without its name, and with a text that a function composes',
    ]),
  ),
  'pending.have-earlier': 'ordered deliveries of the day before yesterday wait',
  'pending.release-place': 'a worker stops before it sends a delivery that holds a place',
  'pending.existing': 'a worker lost its lease before it recorded an outcome',
  'replays.add_parts': 'a worker of an earlier version began the replay',
  'sessions.use': 'a session is used a minute after it began, or later',
};

/** Statements that may read more rows for a count, with the reason. */
const EXACT: Record<string, string> = {
  'SELECT count(*)::float8 AS deliveries FROM deliveries':
    'the backlog is a metric that autoscaling uses; it reads the pending rows of a day',
  'SELECT count(*)::integer AS deliveries, min(created_at) AS since':
    'statistics count waiting deliveries up to a limit; it reads their rows alone',
};

/** @returns a line for each statement that reads too much or never ran, and for each refused call */
export async function faultsOfStatements(
  site: Site,
  database: Database,
  { busiest, builder }: { busiest: Account; builder: Account },
): Promise<string[]> {
  await makeDays(database.pool, TOO_OLD);
  const start = site.postgres.output().length;
  const roles = (['api', 'worker'] as const).map((one) => site.postgres.urlOf(one).username);
  for (const role of roles) {
    for (const [name, value] of Object.entries(LOGGED)) {
      await database.pool.query(
        `ALTER ROLE ${role} IN DATABASE ${database.name} SET ${name} = '${value}'`,
      );
    }
  }
  const deployment = await site.deploy(database);
  await fail(deployment);
  const refused = await tour(deployment, busiest, builder);
  await sleep(BACKGROUND_MS);
  // Cancelling ends a minute after its start.
  await database.pool.query(
    `UPDATE webhooks SET updated_at = now() - interval '1 hour', deleted_at = deleted_at - interval '1 hour'
     WHERE cancelling`,
  );
  await sleep(BACKGROUND_MS);
  await deployment.end();
  const { executions, names } = readLog(site.postgres.output().slice(start));
  if (executions.length === 0) return ['no plan was logged'];
  const texts = [...new Set(executions.map(({ text }) => text))];
  const missing = preparedStatements()
    .filter(({ name }) => !names.has(name) && !(name in NOT_REACHED))
    .filter(({ part }) => !texts.some((text) => text.includes(part)));
  return [
    ...refused,
    ...excesses(executions.filter(({ text }) => !isExact(text))),
    ...missing.map(({ name }) => `${name} never ran`),
  ];
}

/** Deliveries whose first attempt fails, without a reachable target, also of subscriptions with a pace and a filter. */
async function fail(deployment: Deployment): Promise<void> {
  const [second] = (await deployment.accounts(1, 'second')) as [Account];
  const webhook = { event: 'cdrCreated', resource: 'call', targetUrl: CLOSED };
  const kinds = [{}, { maxConcurrent: 2 }, { filter: { text: { prefix: 'x' } } }];
  for (const kind of kinds) {
    await deployment.call('POST', '/v1/webhooks', second.authorization, { ...webhook, ...kind });
  }
  await deployment.store([second], 100);
}

function isExact(text: string): boolean {
  return Object.keys(EXACT).some((start) => text.startsWith(start));
}
