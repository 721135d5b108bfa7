import { setTimeout as sleep } from 'node:timers/promises';
import { eventually } from '#tools/eventually';
import type { FaultCase } from '../harness/fault-case.js';
import type { Installation, Setup } from '../harness/installation.js';
import type { Random } from '../harness/random.js';
import { confirm } from '../harness/receiver.js';

const BURST = 150;
const AWAY_MS = 60_000;
const FULL_MS = 12_000;
const FORBIDDEN_MS = 12_000;
/** Half a second, and a second until a worker looks whether Redis does it again; not the 30 s of a lease. */
const FORBIDDEN_LATEST_MS = 5_000;
const SLOW_MS = 12_000;
const SLOW_BY_MS = 250;

/** Few concurrent calls, so that jobs wait in Redis, and enough time for the calls of a stopped worker. */
const narrow: Setup = {
  environment: () => ({ WORKER_CONCURRENCY: '40', DELIVERY_TIMEOUT_MS: '8000' }),
};

/** Delays answers, and fails every first attempt to one of the targets, so that retries wait. */
function occupy({ receiver }: Installation, random: Random): void {
  receiver.answering = (arrival, response) => {
    const fails = arrival.earlier === 0 && arrival.path === '/second';
    const answer = () => (fails ? response.writeHead(500).end() : confirm(arrival, response));
    setTimeout(answer, random.between(200, 600));
  };
}

/**
 * Injects the fault while deliveries wait in Redis, are in flight, and wait for a retry. The workers are stopped
 * meanwhile.
 */
async function whileOccupied(
  { redis, postgres, producer, workers }: Installation,
  harm: () => Promise<unknown>,
): Promise<void> {
  const some = async (rows: string) => (await postgres.query(`SELECT FROM ${rows}`)).length > 0;
  await eventually(() => some(`deliveries WHERE state = 'pending' AND attempts > 0`), Boolean, {
    what: 'a delivery waits for a retry',
  });
  await eventually(
    () =>
      some(`webhooks WHERE target_url LIKE '%/first' AND NOT backlog AND failing_since IS NULL`),
    Boolean,
    { what: 'new events go to the queue at once' },
  );
  for (const worker of workers) worker.signal('SIGSTOP');
  try {
    await producer.reportInPieces(BURST);
    await eventually(
      async () => {
        const { waiting, active } = await redis.jobs();
        return waiting > 0 && active > 0;
      },
      Boolean,
      { what: 'deliveries wait in Redis and are in flight' },
    );
    await harm();
  } finally {
    for (const worker of workers) worker.signal('SIGCONT');
  }
}

/** Redis holds no outcomes, so losing it must cause no duplicates. */
const harmless = { producersNotice: 'nothing', duplicates: 'none' } as const;

export const redisFlushed: FaultCase = {
  ...harmless,
  name: 'redis-flushed',
  rate: 15,
  about: 'Redis: FLUSHALL while deliveries are queued, in flight and waiting for a retry',
  setup: narrow,
  harm: async (installation, random) => {
    occupy(installation, random);
    await whileOccupied(installation, () => installation.redis.command('FLUSHALL'));
    for (let flush = 0; flush < 2; flush += 1) {
      await sleep(random.between(500, 3_000));
      void installation.producer.report(BURST);
      await sleep(random.between(0, 500));
      await installation.redis.command('FLUSHALL');
    }
  },
};

export const redisKilled: FaultCase = {
  ...harmless,
  name: 'redis-killed',
  rate: 15,
  about: 'Redis: kill -9 under load, then a restart without data',
  setup: narrow,
  harm: async (installation, random) => {
    occupy(installation, random);
    await whileOccupied(installation, () => installation.redis.kill());
    await sleep(random.between(500, 4_000));
    await installation.redis.start();
  },
};

export const redisAway: FaultCase = {
  ...harmless,
  name: 'redis-away',
  about: 'Redis: down for a minute, during which events are still accepted',
  rate: 25,
  harm: async ({ redis }) => {
    await redis.kill();
    await sleep(AWAY_MS);
    await redis.start();
  },
};

export const redisFull: FaultCase = {
  ...harmless,
  name: 'redis-full',
  about: 'Redis: at maxmemory with noeviction, so every write fails',
  harm: async ({ redis }, random) => {
    await sleep(random.between(0, 1_000));
    await redis.command('CONFIG', 'SET', 'maxmemory', '1');
    await sleep(FULL_MS);
    await redis.command('CONFIG', 'SET', 'maxmemory', '0');
  },
};

export const redisForbidding: FaultCase = {
  ...harmless,
  name: 'redis-forbidding',
  about: 'Redis: forbids scripts, as some managed ones do',
  latestMs: FORBIDDEN_LATEST_MS,
  harm: async ({ redis }, random) => {
    await sleep(random.between(0, 1_000));
    await redis.command('ACL', 'SETUSER', 'default', '-evalsha', '-eval');
    await sleep(FORBIDDEN_MS);
    await redis.command('ACL', 'SETUSER', 'default', '+evalsha', '+eval');
  },
};

export const redisSlow: FaultCase = {
  ...harmless,
  name: 'redis-slow',
  about: 'Redis: every command and every answer is delayed by 0.25 s',
  leftOut: {
    redisCluster: 'processes connect to the nodes directly and bypass the slow link',
  },
  harm: async ({ processes }) => {
    for (const { redis } of processes) redis.delay(SLOW_BY_MS);
    await sleep(SLOW_MS);
    for (const { redis } of processes) redis.open();
  },
};
