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
import type { LinkedProcess } from '../harness/linked-process.js';
import type { Random } from '../harness/random.js';
import { besideRefusing, Changes, lockedFor } from '../harness/refusing.js';

const RATE = 100;
const FROZEN_MS = 62_000;
/** A transaction that makes no progress for this long belongs to a frozen process. */
const STANDS_STILL_MS = 200;
const TRIES = 60;
/** A process gives up all its silent connections within this time. */
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
 * Calls `stop` and `goOn` alternately until a PUT is stopped inside its transaction, while it holds locks on
 * subscriptions. @returns the number of locked subscriptions
 */
async function stopWithinPut(
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
  throw new Error('no PUT could be stopped inside its transaction');
}

/** The proxy sends this API no requests, so only its locks in PostgreSQL can affect others. */
export const apiFrozen: FaultCase = {
  ...beside,
  name: 'api-frozen',
  about:
    'SIGSTOP of an API for a minute, inside transactions that change subscriptions whose targets ' +
    'answer 429 and 410; the proxy sends it no requests: another account notices nothing',
  duplicates: 'none',
  harm: async (installation, random) => {
    const [api] = installation.apis;
    if (!api) return;
    installation.frontDoor.withdraw(api.port);
    await besideRefusing(installation, async (account) => {
      const changes = new Changes(api, account);
      const locked = await stopWithinPut(installation, account, random, {
        stop: () => api.signal('SIGSTOP'),
        goOn: () => api.signal('SIGCONT'),
      });
      held = `${String(locked)} subscriptions were locked by the frozen API`;
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
    'SIGSTOP of one of two workers for a minute, inside a transaction if one can be caught, while ' +
    'targets answer 429 and 410: another account notices nothing',
  duplicates: 'explained',
  harm: async (installation, random) => {
    const worker = random.oneOf(installation.workers);
    await besideRefusing(installation, async (account) => {
      await sleep(2_000);
      await installation.harming('frozen', [worker], async () => {
        held = 'the worker was frozen outside a transaction';
        for (let tries = 0; tries < TRIES; tries += 1) {
          worker.signal('SIGSTOP');
          const open = await openFor(installation, worker, STANDS_STILL_MS);
          if (open > 0) held = `${String(open)} transactions of the worker were stalled`;
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

/** PostgreSQL is not notified, and has to end the abandoned transactions itself. */
export const linkHalfOpenInTransaction: FaultCase = {
  ...beside,
  name: 'link-half-open-in-transaction',
  about:
    "an API's connections to PostgreSQL go silent inside transactions, then a worker's; both ends " +
    'still consider them open',
  duplicates: 'explained',
  harm: async (installation, random) => {
    const [api] = installation.apis;
    const worker = random.oneOf(installation.workers);
    if (!api) return;
    installation.frontDoor.withdraw(api.port);
    await besideRefusing(installation, async (account) => {
      const changes = new Changes(api, account);
      const locked = await stopWithinPut(installation, account, random, {
        stop: () => api.postgres.forget(),
        goOn: () => api.postgres.reset(),
      });
      changes.end();
      span = await watched(installation, () => sleep(FROZEN_MS));
      const still = await lockedFor(installation, account, STANDS_STILL_MS);
      held =
        `${String(locked)} subscriptions were locked through silent connections, ` +
        `${String(still)} of them still after a minute`;
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
      ...(stillLocked === 0
        ? []
        : ['an abandoned transaction still held its locks after a minute']),
    ]),
  notes,
};

/** How many of a worker's transactions have made no progress for `ms`. PgBouncer hides them. */
async function openFor(
  { postgres }: Installation,
  worker: LinkedProcess,
  ms: number,
): Promise<number> {
  await sleep(ms);
  const rows = await postgres.query(
    `SELECT FROM pg_stat_activity
     WHERE client_port = ANY ($1) AND state <> 'idle'
       AND state_change < now() - make_interval(secs => $2)`,
    [worker.postgres.ports, (ms / 1_000) * 0.9],
  );
  return rows.length;
}
