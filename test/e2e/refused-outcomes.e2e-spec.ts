import { afterAll, beforeAll, expect, it } from 'vitest';
import { Metrics } from '#libs/runtime';
import { eventually } from '#tools/eventually';
import { createUser } from '../support/accounts.js';
import { type DemoAccount, startDemoAccount } from '../support/demo-account.js';
import { clientOf } from '../support/http.js';
import { type InProcess, workerInProcess } from '../support/in-process.js';
import { type Receiver, startReceiver } from '../support/receiver.js';

const LOOPBACK = { DELIVERY_ALLOWED_NETWORKS: '127.0.0.0/8' };

let demo: DemoAccount;
let receiver: Receiver;
let worker: InProcess;

beforeAll(async () => {
  demo = await startDemoAccount(LOOPBACK);
  receiver = await startReceiver();
  worker = await workerInProcess({ ...LOOPBACK, DATABASE_URL: demo.database.url });
});
afterAll(async () => {
  await worker.stop();
  await receiver.close();
  await demo.stop();
});

it('a delivery whose outcome is refused waits a minute, and ends when outcomes are recorded again', async () => {
  const { auth } = await createUser(demo.database, 'switch', 'platform');
  await demo.aSubscription({ targetUrl: receiver.url });
  await demo.database.query('ALTER TABLE attempts ADD CONSTRAINT refusing CHECK (false) NOT VALID');
  const event = { event: 'cdrCreated', resource: 'call', accountId: demo.id, data: {} };
  await clientOf(demo.api.url, auth).post('/v1/events', event);
  const rows = () =>
    demo.database.query<{ id: string; in_s: number }>(
      `SELECT id, extract(epoch FROM next_attempt_at - now())::float8 AS in_s FROM deliveries
       WHERE state = 'pending' AND takes > 0 AND claimed_until IS NULL`,
    );
  const [waiting] = await eventually(rows, ({ length }) => length === 1);
  expect(waiting!.in_s).toBeGreaterThan(40);
  expect(waiting!.in_s).toBeLessThanOrEqual(60);
  expect(receiver.received).toHaveLength(1);
  expect(await worker.app.get(Metrics).text()).toMatch(/^switchhook_refused_outcomes_total 1$/m);

  await demo.database.query('ALTER TABLE attempts DROP CONSTRAINT refusing');
  const path = `/v1/deliveries/${waiting!.id}`;
  await demo.client.post(`${path}/send`);
  const shown = await eventually(
    () => demo.shown(path),
    ({ state }) => state !== 'pending',
  );
  expect(shown).toMatchObject({ state: 'succeeded', attempts: 1 });
  expect(receiver.received).toHaveLength(2);
});
