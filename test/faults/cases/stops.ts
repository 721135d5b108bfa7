import { setTimeout as sleep } from 'node:timers/promises';
import type { FaultCase } from '../harness/fault-case.js';
import type { ServiceProcess } from '../../support/service-process.js';

const FULL_LOAD = 200;
const STOPPED_WITHIN_MS = 25_000;

/** Stops a process with SIGTERM, and starts it again. @throws Error if it did not end cleanly */
async function restart(process: ServiceProcess): Promise<void> {
  const start = performance.now();
  const how = await process.stop();
  const ms = performance.now() - start;
  if (how !== 'exited with code 0') throw new Error(`${process.name} ${how}`);
  if (ms > STOPPED_WITHIN_MS) throw new Error(`${process.name} took ${ms.toFixed()} ms to stop`);
  await process.start();
}

export const stoppedUnderLoad: FaultCase = {
  name: 'stopped-under-load',
  about: 'SIGTERM to all processes at once under full load: each exits with 0 within 25 s',
  rate: FULL_LOAD,
  producersNotice: 'unanswered',
  duplicates: 'none',
  harm: async ({ processes }) => {
    await Promise.all(processes.map(restart));
  },
};

export const rollingRestart: FaultCase = {
  name: 'rolling-restart',
  about: 'SIGTERM to one process after another under full load: producers notice nothing',
  rate: FULL_LOAD,
  producersNotice: 'nothing',
  duplicates: 'none',
  harm: async ({ processes }, random) => {
    for (const process of processes) {
      await restart(process);
      await sleep(random.between(500, 1_500));
    }
  },
};
