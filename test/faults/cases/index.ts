import { blip } from './blip.js';
import { burst } from './burst.js';
import { clocksApart } from './clocks.js';
import type { FaultCase } from '../harness/fault-case.js';
import { oldestDueGauge } from './gauge.js';
import {
  apiFrozen,
  linkHalfOpenInTransaction,
  workerFrozenInTransaction,
} from './in-transaction.js';
import { historyFuzz, orderedFuzz } from './history-fuzz.js';
import { allKilled, apiKilled, killedBeforeRecord, workerKilled } from './kills.js';
import { linksCut, linksHalfOpen, linksSlow } from './links.js';
import {
  deadlocks,
  diskFull,
  postgresAway,
  postgresCrowded,
  postgresKilled,
  postgresRestarted,
} from './postgres.js';
import { workersOutOfFiles } from './out-of-files.js';
import { egressAway, everybodySilent, resolverAway, thirdDead } from './own-outages.js';
import { paced } from './paced.js';
import { receiversBroken, receiversRefusing } from './receivers.js';
import {
  redisAway,
  redisFlushed,
  redisForbidding,
  redisFull,
  redisKilled,
  redisSlow,
} from './redis.js';
import { lockedDelivery, lockedPartition, lockedSubscription } from './locks.js';
import { manySubscriptions } from './many-subscriptions.js';
import { failover, failoverTwice, replicaPromoted } from './replica.js';
import { postgresRestored, redisRestored } from './restores.js';
import { rollingRestart, stoppedUnderLoad } from './stops.js';
import { backlogHuge, targetDead, targetsHang } from './targets.js';
import { workerFrozen } from './worker-frozen.js';

/** All cases, in their order of execution. */
export const cases: readonly FaultCase[] = [
  workerKilled,
  apiKilled,
  allKilled,
  killedBeforeRecord,
  redisFlushed,
  redisKilled,
  redisAway,
  redisFull,
  redisForbidding,
  redisSlow,
  postgresRestarted,
  postgresKilled,
  postgresAway,
  postgresCrowded,
  deadlocks,
  diskFull,
  receiversBroken,
  receiversRefusing,
  workerFrozen,
  historyFuzz,
  orderedFuzz,
  paced,
  clocksApart,
  linksCut,
  linksHalfOpen,
  linksSlow,
  stoppedUnderLoad,
  rollingRestart,
  postgresRestored,
  redisRestored,
  targetsHang,
  targetDead,
  backlogHuge,
  apiFrozen,
  workerFrozenInTransaction,
  linkHalfOpenInTransaction,
  lockedDelivery,
  lockedSubscription,
  lockedPartition,
  blip,
  burst,
  oldestDueGauge,
  replicaPromoted,
  failover,
  failoverTwice,
  manySubscriptions,
  workersOutOfFiles,
  egressAway,
  resolverAway,
  everybodySilent,
  thirdDead,
];
