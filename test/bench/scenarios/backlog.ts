import { fill } from '../harness/filling.js';
import { byTurns, ratios, type Scenario } from '../harness/scenario.js';
import { warmRate } from './worker.js';

const ACCOUNTS = 20;
const WAITING = 1_000_000;

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
        await database.pool.query('TRUNCATE events, event_keys, deliveries, attempts');
        await fill(database, accounts, { deliveries: waiting, state: 'pending' });
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
