import type { FaultCase } from '../harness/fault-case.js';
import { allKilled, apiKilled, killedBeforeRecord, workerKilled } from './kills.js';
import { rollingRestart, stoppedUnderLoad } from './stops.js';

/** All cases, in the order in which they are run. */
export const cases: readonly FaultCase[] = [
  workerKilled,
  apiKilled,
  allKilled,
  killedBeforeRecord,
  stoppedUnderLoad,
  rollingRestart,
];
