import { setTimeout as sleep } from 'node:timers/promises';
import Bull, { type Queue } from 'bull';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { type Config, connectRedis, readConfig } from '#libs/runtime';
import { eventually } from '#tools/eventually';
import { JobLoop } from './delivery.consumer.js';
import { testDatabaseUrl, testRedisUrl } from '../../../../../test/support/environment.js';
import { proxyTo, type TcpProxy } from '../../../../../test/support/tcp-proxy.js';

const OPTIONS = { removeOnComplete: true };

let config: Config;
let redis: TcpProxy;
/** What the loop uses: through the proxy. */
let queue: Queue;
/** What adds jobs: directly. */
let direct: Queue;
let loop: JobLoop;
let handled: number[];
let handling: () => Promise<unknown>;

beforeEach(async () => {
  redis = await proxyTo(testRedisUrl().toString());
  direct = new Bull('loop', testRedisUrl().toString());
  await direct.obliterate({ force: true });
  await direct.resume();
  handled = [];
  handling = () => Promise.resolve();
  startAt(redis.address);
});
afterEach(async () => {
  await loop.stop();
  queue.client.disconnect();
  await direct.close();
  await redis.close();
});

function startAt(address: string): void {
  config = readConfig({ DATABASE_URL: testDatabaseUrl().toString(), REDIS_URL: address });
  queue = new Bull('loop', {
    createClient: (type) => {
      if (type !== 'client') throw new Error(`Bull opens a connection of its own: ${type}`);
      return connectRedis(config, 'commands');
    },
  });
  loop = startLoop();
}

function startLoop(): JobLoop {
  const started = new JobLoop(queue, connectRedis(config, 'blocking'), async (jobId) => {
    handled.push(Number(jobId));
    await handling();
  });
  started.start();
  return started;
}

async function add(from: number, count: number): Promise<void> {
  const numbers = Array.from({ length: count }, (_, index) => from + index);
  await direct.addBulk(numbers.map((jobId) => ({ data: {}, opts: { ...OPTIONS, jobId } })));
}

const untilHandled = (count: number) =>
  eventually(
    () => handled.length,
    (length) => length >= count,
  );

const counts = async () => {
  const { waiting, active, completed, failed } = await direct.getJobCounts();
  return { waiting, active, completed, failed };
};
const NONE = { waiting: 0, active: 0, completed: 0, failed: 0 };

const untilEmpty = () => eventually(counts, (now) => JSON.stringify(now) === JSON.stringify(NONE));

it('handles each job once, in order, and removes it', async () => {
  await add(1, 100);
  await untilHandled(100);
  await add(101, 1);
  await untilHandled(101);
  await untilEmpty();
  expect(handled).toEqual(Array.from({ length: 101 }, (_, index) => index + 1));
  expect(await direct.client.keys('bull:loop:*:lock')).toEqual([]);
});

it('removes a job that another program added without options', async () => {
  await direct.add('other', { some: 'data' });
  await add(2, 20);
  await untilHandled(21);
  await untilEmpty();
});

it('takes several waiting jobs at once', async () => {
  await loop.stop();
  await add(1, 80);
  await direct.client.config('RESETSTAT');
  loop = startLoop();
  await untilHandled(80);
  await untilEmpty();
  const stats = await direct.client.info('commandstats');
  const calls = (command: string) =>
    Number(new RegExp(`cmdstat_${command}:calls=(\\d+)`).exec(stats)?.[1] ?? 0);
  expect(calls('brpoplpush')).toBeLessThanOrEqual(20);
});

it('handles jobs that Redis has just handed over when it stops', async () => {
  const client = queue.client as typeof queue.client & {
    takeJobs: (...of: string[]) => Promise<string[]>;
  };
  const takeJobs = client.takeJobs.bind(client);
  const taking = vi.spyOn(client, 'takeJobs').mockImplementation(async (...of) => {
    await sleep(100);
    return takeJobs(...of);
  });
  await add(1, 9);
  await eventually(() => taking.mock.calls.length === 1);
  await loop.stop();
  expect(handled.length).toBeGreaterThanOrEqual(8);
  expect(await counts()).toEqual({ ...NONE, waiting: 9 - handled.length });
});

it('removes the jobs that it has handled when it stops', async () => {
  await add(1, 1);
  await untilHandled(1);
  await loop.stop();
  expect(await counts()).toEqual(NONE);
});

it('fetches no more jobs when it stops', async () => {
  handling = () => sleep(100);
  await add(1, 20);
  await untilHandled(8);
  await loop.stop();
  expect(handled).toHaveLength(8);
  expect(await counts()).toEqual({ ...NONE, waiting: 12 });
});

it('continues after an outage, and loses no job', async () => {
  for (let round = 0; round < 3; round += 1) {
    redis.down();
    await add(round * 100 + 1, 100);
    await sleep(round * 400);
    redis.up();
    await untilHandled((round + 1) * 100);
    await untilEmpty();
  }
  expect(new Set(handled).size).toBe(300);
});

it('takes one job after the other while Redis forbids scripts', async () => {
  const user = ['ACL', 'SETUSER', 'without-scripts', 'on', '>secret', '~*', '&*'];
  await direct.client.call(...(user as ['ACL']), '+@all', '-eval', '-evalsha');
  await loop.stop();
  queue.client.disconnect();
  startAt(
    Object.assign(testRedisUrl(), { username: 'without-scripts', password: 'secret' }).toString(),
  );
  const errors = vi.fn<(error: Error) => void>();
  queue.on('error', errors);
  await add(1, 20);
  await untilHandled(20);
  expect(handled).toEqual(Array.from({ length: 20 }, (_, index) => index + 1));
  await untilEmpty();
  expect(errors.mock.calls[0]?.[0].message).toContain('evalsha');
});

it('drops what a worker that died left active, and nothing newer', async () => {
  await loop.stop();
  const old = { ...OPTIONS, timestamp: Date.now() - 61_000 };
  await direct.add({}, { ...old, jobId: 1 });
  await direct.add({}, { ...OPTIONS, jobId: 2 });
  for (let job = 0; job < 2; job += 1) {
    await direct.client.rpoplpush(direct.toKey('wait'), direct.toKey('active'));
  }
  loop = startLoop();
  await eventually(counts, ({ active }) => active === 1);
  expect((await direct.getActive()).map(({ id }) => id)).toEqual(['2']);
});

it('stops without an error when Redis stops responding', async () => {
  redis.freezeAll();
  await sleep(100);
  // An unhandled rejection fails the run.
  const start = performance.now();
  await loop.stop();
  expect(performance.now() - start).toBeLessThan(5_000);
});
