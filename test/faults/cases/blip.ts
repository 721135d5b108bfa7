import { setTimeout as sleep } from 'node:timers/promises';
import { eventually } from '#tools/eventually';
import { makeAccount, unsubscribe } from '../harness/account.js';
import { type Experience, experienceIn, type Span, watched } from '../harness/bystander.js';
import type { FaultCase } from '../harness/fault-case.js';
import type { Installation } from '../harness/installation.js';
import { confirm } from '../harness/receiver.js';

const SUBSCRIPTIONS = 400;
const EVENTS = 20;
const HANG_MS = 14_000;
/** The first calls to some targets start only after several rounds of calls to others have ended. */
const ALL_CALLED_MS = 6 * HANG_MS;
const TIMEOUT_MS = 15_000;
const QUIET_MS = 20_000;
const WATCHED_MS = 50_000;
const MOST_P99_MS = 2_000;
/** The delay that the load of 800 calls may add on a shared machine. */
const NOISE = { times: 3, ms: 50 };

let quiet: Span;
let disturbed: Span;
let failedNumber: number;

/** Excludes the failed event, which waits for its own retry. */
function experiences(installation: Installation): { before: Experience; beside: Experience } {
  const except = new Set([failedNumber]);
  return {
    before: experienceIn(quiet, installation, except),
    beside: experienceIn(disturbed, installation, except),
  };
}

export const blip: FaultCase = {
  name: 'blip',
  about:
    '400 targets of one account hang for 14 s and then fail; the only target of another account ' +
    'fails once, and its next notifications are not delayed',
  rate: 0.5,
  producersNotice: 'nothing',
  duplicates: 'none',
  setup: {
    paths: ['/other'],
    environment: () => ({
      DELIVERY_TIMEOUT_MS: String(TIMEOUT_MS),
      DELIVERY_RETRY_SCHEDULE: '5s,30s,5m,30m,2h',
    }),
  },
  harm: async (installation) => {
    const { receiver } = installation;
    const paths = Array.from({ length: SUBSCRIPTIONS }, (_, number) => `/hangs/${String(number)}`);
    const account = await makeAccount(installation, 'hangs', paths);
    let isOver = false;
    let failed = false;
    let failing = false;
    const known = new Set<string>();
    receiver.answering = (arrival, response) => {
      if (arrival.path !== '/other') {
        const fail = () => {
          known.add(arrival.path);
          response.writeHead(500).end();
        };
        setTimeout(fail, isOver ? 0 : HANG_MS);
      } else if (failing && !failed) {
        failed = true;
        failedNumber = arrival.number;
        response.writeHead(500).end();
      } else confirm(arrival, response);
    };
    quiet = await watched(installation, () => sleep(QUIET_MS));
    await account.producer.report(EVENTS);
    const all = () => known.size === SUBSCRIPTIONS;
    await eventually(all, Boolean, {
      what: 'every hanging target has failed',
      ms: ALL_CALLED_MS,
    });
    failing = true;
    await eventually(() => failed, Boolean, { what: 'the other target has failed once' });
    disturbed = await watched(installation, () => sleep(WATCHED_MS));
    isOver = true;
    await unsubscribe(installation, account);
  },
  check: (installation) => {
    const { before, beside } = experiences(installation);
    const most = Math.max(before.p50Ms * NOISE.times, before.p50Ms + NOISE.ms);
    const breaches = [
      [beside.p99Ms <= MOST_P99_MS, `the p99 of the other account was ${ms(beside.p99Ms)}`],
      [beside.p50Ms <= most, `its p50 was ${ms(beside.p50Ms)}, up from ${ms(before.p50Ms)}`],
    ] as const;
    return Promise.resolve(breaches.filter(([holds]) => !holds).map(([, breach]) => breach));
  },
  notes: (installation) => {
    const { before, beside } = experiences(installation);
    return [
      `the other account: p50 ${ms(beside.p50Ms)}, p99 ${ms(beside.p99Ms)} of ` +
        `${String(beside.reported)} events; before, p50 ${ms(before.p50Ms)}`,
    ];
  },
};

const ms = (value: number): string => `${value.toFixed()} ms`;
