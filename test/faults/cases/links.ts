import { setTimeout as sleep } from 'node:timers/promises';
import type { FaultCase } from '../harness/fault-case.js';

const HALF_OPEN_MS = 10_000;
const SLOW_MS = 12_000;
const SLOW_BY_MS = 100;

export const linksCut: FaultCase = {
  name: 'links-cut',
  about: 'links from workers to PostgreSQL and Redis: cut for a few seconds, repeatedly',
  producersNotice: 'nothing',
  duplicates: 'explained',
  harm: async (installation, random) => {
    for (let cut = 0; cut < 5; cut += 1) {
      const worker = random.oneOf(installation.workers);
      const link = random.oneOf([worker.postgres, worker.redis]);
      const work = async () => {
        link.cut();
        await sleep(random.between(500, 4_000));
        link.open();
      };
      await (link === worker.postgres ? installation.harming('cut off', [worker], work) : work());
      await sleep(random.between(300, 1_000));
    }
  },
};

export const linksHalfOpen: FaultCase = {
  name: 'links-half-open',
  about: 'links from a worker to PostgreSQL and Redis: half open, so neither end notices',
  producersNotice: 'nothing',
  duplicates: 'explained',
  harm: async (installation, random) => {
    const worker = random.oneOf(installation.workers);
    worker.redis.halfOpen();
    await sleep(HALF_OPEN_MS);
    worker.redis.open();
    await installation.harming('cut off', [worker], async () => {
      worker.postgres.halfOpen();
      await sleep(HALF_OPEN_MS);
      worker.postgres.open();
      // Half-open connections never recover. Within this time, all of them are replaced.
      await sleep(15_000);
    });
  },
};

export const linksSlow: FaultCase = {
  name: 'links-slow',
  about: 'links from workers to PostgreSQL and Redis: 0.1 s of delay in each direction',
  producersNotice: 'nothing',
  duplicates: 'none',
  harm: async ({ workers }) => {
    const links = workers.flatMap(({ postgres, redis }) => [postgres, redis]);
    for (const link of links) link.delay(SLOW_BY_MS);
    await sleep(SLOW_MS);
    for (const link of links) link.open();
  },
};
