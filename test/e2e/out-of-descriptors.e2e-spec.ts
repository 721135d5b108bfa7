import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { eventually } from '#tools/eventually';
import { createUser } from '../support/accounts.js';
import { type DemoAccount, startDemoAccount } from '../support/demo-account.js';
import { clientOf, send } from '../support/http.js';
import { startWorker } from '../support/processes.js';
import { type Receiver, startReceiver } from '../support/receiver.js';
import type { ServiceProcess } from '../support/service-process.js';

const LOOPBACK = { DELIVERY_ALLOWED_NETWORKS: '127.0.0.0/8' };

let demo: DemoAccount;
let receiver: Receiver;
let worker: ServiceProcess;

beforeAll(async () => {
  demo = await startDemoAccount(LOOPBACK);
  receiver = await startReceiver();
  worker = await startWorker({ ...LOOPBACK, DATABASE_URL: demo.database.url });
});
afterAll(async () => {
  await worker.stop();
  await receiver.close();
  await demo.stop();
});

/** Sets how many files the worker may have open. Those that are open stay so. */
async function allowFiles(count: number): Promise<void> {
  await promisify(execFile)('prlimit', ['--pid', String(worker.pid), `--nofile=${count}:`]);
}

const logged = (what: string): number => worker.output().split(what).length - 1;

it('a worker without file descriptors makes no attempt, and delivers when it has some again', async () => {
  const { auth } = await createUser(demo.database, 'switch', 'platform');
  const platform = clientOf(demo.api.url, auth);
  await demo.aSubscription({ targetUrl: receiver.url });
  await allowFiles(8);
  const { id } = (
    await platform.post('/v1/events', {
      event: 'cdrCreated',
      resource: 'call',
      accountId: demo.id,
      data: {},
    })
  ).json<{ id: string }>();
  const takes = async (): Promise<number> => {
    const [row] = await demo.database.query<{ takes: number }>('SELECT takes FROM deliveries');
    return row!.takes;
  };
  // It is tried again five seconds after it was claimed, which was before the answer to the event.
  const before = performance.now();
  await eventually(takes, (count) => count >= 2);
  expect(performance.now() - before).toBeGreaterThan(3_000);
  expect(logged('the network of this host is away')).toBe(1);
  const shown = async () => (await demo.shown(`/v1/events/${id}`))['deliveries'];
  expect(await shown()).toMatchObject([{ state: 'pending', attempts: 0 }]);
  await allowFiles(1_024);
  const health = (await send('GET', `${worker.url}/health/ready`)).json();
  expect(health).toMatchObject({ status: 'up', shortage: 'EMFILE' });
  await receiver.until((received) => received.length === 1);
  const deliveries = await eventually(
    shown,
    (all) => (all as { state: string }[])[0]?.state !== 'pending',
  );
  expect(deliveries).toMatchObject([{ state: 'succeeded', attempts: 1 }]);
});
