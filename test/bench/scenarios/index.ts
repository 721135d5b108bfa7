import type { Scenario } from '../harness/scenario.js';
import { batch, fanOut, latency, single } from './accept.js';
import { applications } from './applications.js';
import { backlog } from './backlog.js';
import { coldStart } from './cold-start.js';
import { feed } from './feed.js';
import { filters } from './filters.js';
import { growth } from './growth.js';
import { oneSubscription } from './one-subscription.js';
import { rates } from './rates.js';
import { soak } from './soak.js';
import { delays, hanging, retryStorm } from './targets.js';
import { scaleOut, workerAlone } from './worker.js';

/** All scenarios, in their order of execution. */
export const scenarios: readonly Scenario[] = [
  single,
  batch,
  workerAlone,
  latency,
  rates,
  feed,
  hanging,
  applications,
  fanOut,
  oneSubscription,
  filters,
  delays,
  retryStorm,
  scaleOut,
  backlog,
  coldStart,
  growth,
  soak,
];
