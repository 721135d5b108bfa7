import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { FaultCase } from '../harness/fault-case.js';
import { confirm } from '../harness/receiver.js';

const RATE = 10;
const CALLS_AT_ONCE = 2;
const WAITING = 1_000_000;
const MEASURED_MS = 60_000;
const KILLS = 5;
/** With two calls in flight, 20 notifications a second are possible. */
const ANSWER_AFTER_MS = 100;

/** When notifications of the backlog arrived. */
let arrivals: number[] = [];
const perSecond = (): number => ((arrivals.length - 1) * 1_000) / (arrivals.at(-1)! - arrivals[0]!);

/** A target of its own for the backlog, whose rows are deleted at the end. */
const target = createServer((request, response) => {
  arrivals.push(Date.now());
  request.resume();
  response.writeHead(200).end();
});

export const paced: FaultCase = {
  name: 'paced',
  about:
    `${WAITING.toLocaleString('en')} deliveries wait for a subscription with ${RATE} a second, others exceed their ` +
    'limits of rate and concurrency, and workers are killed',
  producersNotice: 'nothing',
  duplicates: 'explained',
  rate: 15,
  setup: {
    workers: 4,
    paths: ['/rate', '/concurrency'],
    subscription: (path) =>
      path === '/rate' ? { maxPerSecond: RATE } : { maxConcurrent: CALLS_AT_ONCE },
  },
  harm: async (installation, random) => {
    const { accountId, postgres, receiver, workers } = installation;
    receiver.answering = (arrival, response) =>
      void setTimeout(() => confirm(arrival, response), ANSWER_AFTER_MS);
    await new Promise<void>((resolve) => target.listen(0, '127.0.0.1', resolve));
    const { port } = target.address() as AddressInfo;
    await postgres.query(
      `WITH w AS (
         INSERT INTO webhooks (account_id, event, resource, target_url, enabled, secret, max_per_second)
         VALUES ($1, 'smsdlr', 'all', 'http://127.0.0.1:' || $2::text, true, 'whsec_' || repeat('A', 44), $3)
         RETURNING id, account_id
       ),
       e AS (
         INSERT INTO events (id, account_id, event, resource, occurred_at, created_at, data)
         SELECT new_uuid(now(), 0), $1, 'smsdlr', 'sms', now(), now(), '{}' RETURNING id
       )
       INSERT INTO deliveries (id, event_id, webhook_id, account_id, event, generation,
         next_attempt_at, created_at)
       SELECT new_uuid(now(), n), e.id, w.id, w.account_id, 'smsdlr', 1, now(), now()
       FROM w, e, generate_series(1, $4::integer) n`,
      [accountId, port, RATE, WAITING],
    );
    await postgres.query('VACUUM ANALYZE deliveries');
    arrivals = [];
    for (let kill = 0; kill < KILLS; kill += 1) {
      await sleep(random.between(0.5, 1) * (MEASURED_MS / KILLS));
      await installation.killAndRestart([random.oneOf(workers)], random.between(0, 1_000));
    }
    await postgres.query(`DELETE FROM deliveries WHERE event = 'smsdlr'`);
    await new Promise((resolve) => target.close(resolve));
  },
  check: () =>
    Promise.resolve(
      perSecond() >= 0.9 * RATE && perSecond() <= 1.1 * RATE
        ? []
        : [`${perSecond().toFixed(2)} a second of the backlog were sent`],
    ),
  notes: () => [`${perSecond().toFixed(2)} a second of the backlog were sent (limit: ${RATE})`],
};
