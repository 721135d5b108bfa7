import { setTimeout as sleep } from 'node:timers/promises';
import type { Account } from '../harness/account.js';
import {
  breachesOf,
  type Experience,
  experienceIn,
  noteOf,
  type Span,
  watched,
} from '../harness/bystander.js';
import type { FaultCase } from '../harness/fault-case.js';
import type { Installation } from '../harness/installation.js';
import type { Random } from '../harness/random.js';
import { besideRefusing, Changes, lockedFor } from '../harness/refusing.js';

const RATE = 100;
const FROZEN_MS = 62_000;
/** A transaction that has not gone on for so long is one of a process that is frozen. */
const STANDS_STILL_MS = 200;
const TRIES = 60;
/** It takes a process so long until it trusts none of its connections any more. */
const UNTRUSTED_MS = 20_000;

let span: Span;
let held: string;
let stillLocked: number;

const beside = { producersNotice: 'nothing', rate: RATE, setup: { paths: ['/other'] } } as const;
const check = (installation: Installation): Promise<string[]> =>
  Promise.resolve(breachesOf(experience(installation)));
const experience = (installation: Installation): Experience => experienceIn(span, installation);
const notes = (installation: Installation): string[] => [held, noteOf(experience(installation))];

/**
 * Brings it about that a transaction of an API's PUT stands still, with rows of subscriptions
 * locked: `stop` is tried, and undone by `goOn`, until it is so.
 * @returns how many rows are locked
 */
async function amidChange(
  installation: Installation,
  account: Account,
  random: Random,
  { stop, goOn }: { stop: () => void; goOn: () => void },
): Promise<number> {
  for (let tries = 0; tries < TRIES; tries += 1) {
    await sleep(random.between(20, 120));
    stop();
    const locked = await lockedFor(installation, account, STANDS_STILL_MS);
    if (locked > 0) return locked;
    goOn();
  }
  throw new Error('no transaction of a PUT could be stopped');
}

/** A process that is frozen is for its load balancer to notice, and takes no requests here. */
export const apiFrozen: FaultCase = {
  ...beside,
  name: 'api-frozen',
  about:
    'SIGSTOP of an API for a minute, amid transactions that change subscriptions whose targets ' +
    'answer 429 and 410: another account notices nothing',
  duplicates: 'none',
  harm: async (installation, random) => {
    const [api] = installation.apis;
    if (!api) return;
    installation.frontDoor.withdraw(api.port);
    await besideRefusing(installation, async (account) => {
      const changes = new Changes(api, account);
      const locked = await amidChange(installation, account, random, {
        stop: () => api.signal('SIGSTOP'),
        goOn: () => api.signal('SIGCONT'),
      });
      held = `${String(locked)} subscriptions were locked by the API that was frozen`;
      changes.end();
      span = await watched(installation, () => sleep(FROZEN_MS));
      api.signal('SIGCONT');
      await changes.ended();
    });
    installation.frontDoor.letIn(api.port);
  },
  check,
  notes,
};

export const workerFrozenInTransaction: FaultCase = {
  ...beside,
  name: 'worker-frozen-in-transaction',
  about:
    'SIGSTOP of a worker for a minute, amid a statement or transaction if that can be met, beside ' +
    'targets that answer 429 and 410: the other worker goes on as if nothing were',
  duplicates: 'explained',
  harm: async (installation, random) => {
    const worker = random.oneOf(installation.workers);
    await besideRefusing(installation, async (account) => {
      await sleep(2_000);
      await installation.harming('frozen', [worker], async () => {
        held = 'the worker was frozen outside of any transaction';
        for (let tries = 0; tries < TRIES; tries += 1) {
          worker.signal('SIGSTOP');
          const open = await openFor(installation, STANDS_STILL_MS);
          if (open > 0) held = `${String(open)} transactions of the worker stood still`;
          if (open > 0 || tries === TRIES - 1) break;
          worker.signal('SIGCONT');
          await sleep(random.between(20, 120));
        }
        held += `, with ${String(await lockedFor(installation, account, STANDS_STILL_MS))} subscriptions locked`;
        span = await watched(installation, () => sleep(FROZEN_MS));
        worker.signal('SIGCONT');
        await sleep(1_000);
      });
    });
  },
  check: (installation) =>
    Promise.resolve(breachesOf({ ...experience(installation), duplicates: 0 })),
  notes,
};

/** PostgreSQL does not hear of it, and has to end the transactions that do not go on. */
export const linkHalfOpenInTransaction: FaultCase = {
  ...beside,
  name: 'link-half-open-in-transaction',
  about:
    'connections of an API to PostgreSQL are forgotten amid transactions that change ' +
    'subscriptions, then those of a worker amid its statements: nobody hears of it',
  duplicates: 'explained',
  harm: async (installation, random) => {
    const [api] = installation.apis;
    const worker = random.oneOf(installation.workers);
    if (!api) return;
    installation.frontDoor.withdraw(api.port);
    await besideRefusing(installation, async (account) => {
      const changes = new Changes(api, account);
      const locked = await amidChange(installation, account, random, {
        stop: () => api.postgres.forget(),
        goOn: () => api.postgres.reset(),
      });
      changes.end();
      span = await watched(installation, () => sleep(FROZEN_MS));
      const still = await lockedFor(installation, account, STANDS_STILL_MS);
      held =
        `${String(locked)} subscriptions were locked by connections that were forgotten, ` +
        `${String(still)} still after a minute`;
      stillLocked = still;
      api.postgres.reset();
      await changes.ended();
    });
    installation.frontDoor.letIn(api.port);
    await installation.harming('cut off', [worker], async () => {
      worker.postgres.forget();
      await sleep(UNTRUSTED_MS);
      worker.postgres.reset();
    });
  },
  check: (installation) =>
    Promise.resolve([
      ...breachesOf(experience(installation)),
      ...(stillLocked === 0 ? [] : ['PostgreSQL did not end a transaction that stood still']),
    ]),
  notes,
};

/** How many transactions have been open for so long. */
async function openFor({ postgres }: Installation, ms: number): Promise<number> {
  await sleep(ms);
  const rows = await postgres.query(
    `SELECT FROM pg_stat_activity
     WHERE usename = $1 AND state <> 'idle' AND state_change < now() - make_interval(secs => $2)`,
    [postgres.urlOf('worker').username, (ms / 1_000) * 0.9],
  );
  return rows.length;
}
