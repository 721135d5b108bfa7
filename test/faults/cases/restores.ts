import { join } from 'node:path';
import { rm } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { eventually } from '#tools/eventually';
import type { FaultCase } from '../harness/fault-case.js';
import type { Installation } from '../harness/installation.js';

const WAITING = 100;
const REPAIRED_WITHIN_MS = 90_000;
/** Low enough that events go straight to the queue and do not wait in PostgreSQL. */
const RATE = 10;

/** Counts dropped jobs in the summaries of the workers' logs. */
function droppedJobs({ workers }: Installation): number {
  return workers
    .flatMap((worker) => [...worker.output().matchAll(/"outcomes":\{[^}]*"idle":(\d+)/g)])
    .reduce((sum, [, idle]) => sum + Number(idle), 0);
}

function droppedSome(installation: Installation): Promise<string[]> {
  return Promise.resolve(droppedJobs(installation) > 0 ? [] : ['no worker counted a dropped job']);
}

/** Restores an earlier backup of PostgreSQL, while Redis keeps later jobs. */
export const postgresRestored: FaultCase = {
  name: 'postgres-restored',
  about:
    'PostgreSQL: restored from an older backup, with the current Redis; producers repeat later events',
  rate: RATE,
  producersNotice: 'either',
  duplicates: 'explained',
  harm: async (installation, random) => {
    const { postgres, processes, workers, producer } = installation;
    const backup = join(postgres.dir, 'backup');
    const since = Date.now();
    await installation.harming('cut off', 'all', async () => {
      await postgres.backUp(backup);
      await sleep(random.between(2_000, 4_000));
      await installation.noBacklog();
      await Promise.all(workers.map((worker) => worker.kill()));
      await producer.reportInPieces(WAITING);
      await Promise.all(processes.map((process) => process.kill()));
      await postgres.stop();
      await postgres.restore(backup);
      await postgres.start();
    });
    await Promise.all(processes.map((process) => process.start()));
    await producer.reportAgain(since);
    await rm(backup, { recursive: true });
  },
  check: droppedSome,
};

/** Restores a Redis with jobs that are already done. Workers consume them again, without effect. */
export const redisRestored: FaultCase = {
  name: 'redis-restored',
  rate: RATE,
  about: 'Redis: restored to an older state, with the current PostgreSQL: nothing is sent again',
  producersNotice: 'nothing',
  duplicates: 'none',
  harm: async (installation) => {
    const { postgres, redis, workers, producer } = installation;
    await installation.noBacklog();
    await Promise.all(workers.map((worker) => worker.stop()));
    await producer.reportInPieces(WAITING);
    await eventually(async () => (await redis.jobs()).waiting >= WAITING, Boolean, {
      what: 'jobs wait in Redis',
    });
    await redis.save();
    await Promise.all(workers.map((worker) => worker.start()));
    await producer.reportInPieces(WAITING);
    await sleep(3_000);
    await redis.kill();
    await redis.start();
    await rm(join(postgres.dir, 'dump.rdb'), { force: true });
    // A consumer that connects before its process is ready takes these jobs and does nothing. Bull hands them out
    // again in its second check, half a minute after the first.
    const isEmpty = async () => {
      const { waiting, active } = await redis.jobs();
      return waiting + active === 0;
    };
    await eventually(isEmpty, Boolean, {
      what: 'the old jobs are gone',
      ms: REPAIRED_WITHIN_MS,
    });
  },
  check: droppedSome,
};
