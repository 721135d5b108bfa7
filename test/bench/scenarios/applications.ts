import type { Account, Deployment } from '../harness/deployment.js';
import type { Call } from '../harness/connection.js';
import { LoadGenerator } from '../harness/load.js';
import { byTurns, ratios, type Scenario } from '../harness/scenario.js';

const AT_ONCE = 32;
const ROWS = 1_000;
const LONG_LIST = 100_000;

export const applications: Scenario = {
  name: 'applications',
  about: 'reads, lists and writes of applications, against a bare handler with the same query',
  async run(site, { rounds, seconds }) {
    const database = await site.database('applications');
    const deployment = await site.deploy(database, { workers: 0 });
    const [few, many] = await deployment.accounts(2);
    if (!few || !many) throw new Error('two accounts were to be made');
    const ids = await fill(deployment, few, ROWS);
    await fill(deployment, many, LONG_LIST);
    const bare = await site.baseline('repository', site.ownerUrl(database));
    const load = new LoadGenerator([bare.origin], AT_ONCE);
    const rate = async (
      call: (next: () => Call) => Promise<{ calls: number; seconds: number }>,
      next: () => Call,
    ) => {
      const done = await call(next);
      return done.calls / done.seconds;
    };
    let turn = 0;
    const id = () => ids[(turn += 1) % ids.length]!;
    const { authorization } = few;
    const ours = (atOnce: number) => (next: () => Call) => deployment.closed(next, seconds, atOnce);
    const theirs = (atOnce: number) => (next: () => Call) => load.closed(next, atOnce, seconds);
    const body = JSON.stringify({ name: 'A name', messagingUrl: 'https://example.com/sms' });
    const measured = await byTurns(rounds, {
      read: () =>
        rate(ours(AT_ONCE), () => ({
          method: 'GET',
          path: `/v1/applications/${id()}`,
          headers: { authorization },
        })),
      bareRead: () =>
        rate(theirs(AT_ONCE), () => ({
          method: 'GET',
          path: `/v1/applications/${id()}?user=${few.id}`,
        })),
      write: () =>
        rate(ours(AT_ONCE), () => ({
          method: 'POST',
          path: '/v1/applications',
          headers: { authorization, 'content-type': 'application/json' },
          body,
        })),
      list: () =>
        rate(ours(1), () => ({
          method: 'GET',
          path: '/v1/applications',
          headers: { authorization: many.authorization },
        })),
      bareList: () =>
        rate(theirs(1), () => ({ method: 'GET', path: `/v1/applications?user=${many.id}` })),
    });
    const { api } = deployment.memory();
    load.close();
    await deployment.end();
    bare.end();
    return [
      {
        what: 'GET of an application, authenticated / bare',
        values: ratios(measured.read, measured.bareRead),
        unit: '',
        bound: { atLeast: 1 / 1.2 },
      },
      {
        what: 'POST of an application / GET of one',
        values: ratios(measured.write, measured.read),
        unit: '',
      },
      {
        what: `list of ${String(LONG_LIST)} applications / bare`,
        values: ratios(measured.list, measured.bareList),
        unit: '',
      },
      { what: 'memory of the API after all that', values: [api], unit: 'MB' },
    ];
  },
};

/** @returns ids of some of the new applications */
async function fill({ database }: Deployment, account: Account, count: number): Promise<string[]> {
  const { rows } = await database.pool.query<{ id: string }>(
    `INSERT INTO applications (user_id, name, api_type, messaging_url)
     SELECT $1, 'Application ' || n, 'webapi', 'https://example.com/' || n
     FROM generate_series(1, $2::integer) n RETURNING id`,
    [account.id, count],
  );
  await database.pool.query('ANALYZE applications');
  return rows.slice(0, ROWS).map((row) => row.id);
}
