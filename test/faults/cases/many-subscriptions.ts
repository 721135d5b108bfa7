import { setTimeout as sleep } from 'node:timers/promises';
import { eventually } from '#tools/eventually';
import { makeAccount } from '../harness/account.js';
import type { FaultCase } from '../harness/fault-case.js';
import type { Installation } from '../harness/installation.js';
import { Receiver } from '../../bench/harness/receiver.js';
import type { Postgres } from '../../support/stores.js';

const SUBSCRIPTIONS = 20_000;
const DUE_EACH = 150;
/** The number of rows that one statement writes. */
const CHUNK = 300_000;
const WARM_MS = 5_000;
const WINDOW_MS = 30_000;
const STARTS_WITHIN_MS = 60_000;
const LEAST = 0.6;
const EVENTS_AFTERWARDS = 50;

let rates: { one: number; many: number };
const ratio = (): number => rates.many / rates.one;

export const manySubscriptions: FaultCase = {
  name: 'many-subscriptions',
  about:
    '3,000,000 deliveries are due, 150 for each of 20,000 subscriptions: four workers send them ' +
    'nearly as fast as for a single subscription',
  rate: 0,
  producersNotice: 'nothing',
  duplicates: 'none',
  memory: { peakMb: 400, growthMb: 250 },
  setup: { workers: 4 },
  harm: async (installation) => {
    const { programs, workers, producer } = installation;
    // In a separate, otherwise idle process, so that it does not distort the measurement.
    const target = await Receiver.start(programs);
    const all = SUBSCRIPTIONS * DUE_EACH;
    await Promise.all(workers.map((worker) => worker.stop()));
    rates = {
      one: await drainRate(installation, target, { subscriptions: 1, dueEach: all }),
      many: await drainRate(installation, target, {
        subscriptions: SUBSCRIPTIONS,
        dueEach: DUE_EACH,
      }),
    };
    await Promise.all(workers.map((worker) => worker.start()));
    await producer.report(EVENTS_AFTERWARDS);
  },
  check: () =>
    Promise.resolve([
      ...(rates.one > 0 ? [] : ['nothing was sent for the single subscription']),
      ...(ratio() >= LEAST
        ? []
        : [`20,000 subscriptions drained at ${ratio().toFixed(2)} of the rate of one`]),
    ]),
  notes: () => [
    `with 3,000,000 due: ${rates.many.toFixed()} deliveries a second for 20,000 subscriptions, ` +
      `${rates.one.toFixed()} for one: ${ratio().toFixed(2)}`,
  ],
};

/** Deliveries per second. The workers run only for this measurement, and are warm when it starts. */
async function drainRate(
  installation: Installation,
  target: Receiver,
  due: { subscriptions: number; dueEach: number },
): Promise<number> {
  const { postgres, workers, redis } = installation;
  const paths = Array.from(
    { length: due.subscriptions },
    (_, number) => `/now/${String(due.subscriptions)}/${String(number)}`,
  );
  const name = `with-${String(due.subscriptions)}`;
  const account = await makeAccount(installation, name, paths, target.url);
  await makeDue(postgres, account, due.dueEach);
  await target.reset();
  await Promise.all(workers.map((worker) => worker.start()));
  const sent = async () => (await target.received()).confirmed;
  const hasBegun = eventually(async () => (await sent()) > 0, Boolean, {
    what: 'deliveries are sent',
    ms: STARTS_WITHIN_MS,
  });
  // If nothing is sent, the rate of 0 shows it.
  await hasBegun.catch(() => undefined);
  await sleep(WARM_MS);
  const [before, start] = [await sent(), performance.now()];
  await sleep(WINDOW_MS);
  const rate = ((await sent()) - before) / ((performance.now() - start) / 1_000);
  await Promise.all(workers.map((worker) => worker.kill()));
  // The statements of a killed worker continue and keep their locks.
  await postgres.query(
    'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = $1',
    [postgres.urlOf('worker').username],
  );
  await redis.command('FLUSHALL');
  await postgres.query('TRUNCATE deliveries, attempts');
  await postgres.query('DELETE FROM webhooks WHERE id = ANY ($1)', [account.subscriptions]);
  return rate;
}

/** The ids of an event and its deliveries have the same time, as if one statement had accepted them. */
async function makeDue(
  postgres: Postgres,
  { id, subscriptions }: { id: string; subscriptions: readonly string[] },
  dueEach: number,
): Promise<void> {
  const [event] = await postgres.query<{ id: string; at: string }>(
    `INSERT INTO events (id, account_id, event, resource, occurred_at, created_at, data)
     VALUES (new_uuid(now(), 0), $1, 'cdrCreated', 'call', now(), now(), '{"number": 0}')
     RETURNING id, created_at::text AS at`,
    [id],
  );
  const all = subscriptions.length * dueEach;
  for (let from = 0; from < all; from += CHUNK) {
    await postgres.query(
      `INSERT INTO deliveries (id, event_id, webhook_id, account_id, event, generation,
         next_attempt_at, created_at)
       SELECT new_uuid($2::timestamptz, n), $1, ($4::bigint[])[1 + n / $5::integer], $3,
         'cdrCreated', 1, now(), $2::timestamptz
       FROM generate_series($6::integer, $7::integer) n`,
      [event?.id, event?.at, id, subscriptions, dueEach, from, Math.min(from + CHUNK, all) - 1],
    );
  }
  await postgres.query('VACUUM ANALYZE deliveries');
  await postgres.query('VACUUM ANALYZE webhooks');
  await postgres.query('CHECKPOINT');
}
