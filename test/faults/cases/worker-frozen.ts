import type { ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import type { FaultCase } from '../harness/fault-case.js';
import { type Arrival, confirm } from '../harness/receiver.js';

const ANSWER_AFTER_MS = 400;
/** A lease lasts 18 s with this installation's timeout. */
const FROZEN_MS = 22_000;

/**
 * The worker stops while calls are in flight. Half of them fail and half succeed, but it learns this only after
 * another worker has repeated them.
 */
export const workerFrozen: FaultCase = {
  name: 'worker-frozen',
  about:
    'SIGSTOP of a worker until its leases have ended, then SIGCONT: its late outcomes overwrite nothing',
  producersNotice: 'nothing',
  duplicates: 'explained',
  harm: async (installation, random) => {
    const { receiver, workers } = installation;
    const underWay = new Map<Arrival, ServerResponse>();
    receiver.answering = (arrival, response) => {
      underWay.set(arrival, response);
      setTimeout(() => {
        if (underWay.delete(arrival)) confirm(arrival, response);
      }, ANSWER_AFTER_MS);
    };
    await sleep(1_000);
    const frozen = random.oneOf(workers);
    await installation.harming('frozen', [frozen], async () => {
      frozen.signal('SIGSTOP');
      for (const [arrival, response] of underWay) {
        if (random.isTrue(0.5)) confirm(arrival, response);
        else response.writeHead(500).end();
      }
      underWay.clear();
      await sleep(FROZEN_MS);
      frozen.signal('SIGCONT');
      await sleep(1_000);
    });
  },
  check: async ({ postgres }) => {
    const overtaken = await postgres.query(
      'SELECT FROM attempts GROUP BY delivery_id, number HAVING count(*) > 1',
    );
    const unsuccessful = await postgres.query(`SELECT FROM deliveries WHERE state <> 'succeeded'`);
    return [
      ...(overtaken.length > 0 ? [] : ['no other worker took over a delivery']),
      ...(unsuccessful.length === 0 ? [] : ['a late failure overwrote a success']),
    ];
  },
};
