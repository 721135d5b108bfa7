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

it('an outcome that is refused for the answer of the target is recorded without it', async () => {
  const { auth } = await createUser(demo.database, 'radio', 'platform');
  receiver.received.length = 0;
  receiver.answering = (_, response) => response.end('refused');
  await demo.aSubscription({ event: 'smsdlr', targetUrl: `${receiver.url}/answer` });
  await demo.database.query(
    `ALTER TABLE attempts ADD CONSTRAINT refusing CHECK (response_body NOT LIKE '%refused%') NOT VALID`,
  );
  const event = { event: 'smsdlr', resource: 'sms', accountId: demo.id, data: {} };
  await clientOf(demo.api.url, auth).post('/v1/events', event);
  const rows = await eventually(
    () => demo.database.query<{ id: string }>(`SELECT id FROM deliveries WHERE event = 'smsdlr'`),
    ({ length }) => length === 1,
  );
  const shown = await eventually(
    () => demo.shown(`/v1/deliveries/${rows[0]!.id}`),
    ({ state }) => state !== 'pending',
  );
  expect(shown).toMatchObject({ state: 'succeeded', attempts: 1, attemptLog: [{ status: 200 }] });
  expect(JSON.stringify(shown)).not.toContain('refused');
  expect(receiver.received).toHaveLength(1);
  await demo.database.query('ALTER TABLE attempts DROP CONSTRAINT refusing');
});
