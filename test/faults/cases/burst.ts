import { makeAccount, unsubscribe } from '../harness/account.js';
import { type Experience, experienceIn, type Span, watched } from '../harness/bystander.js';
import type { FaultCase } from '../harness/fault-case.js';
import type { Installation } from '../harness/installation.js';
import { Receiver } from '../../bench/harness/receiver.js';

const EVENTS = 100_000;
const BATCH = 1_000;
const CLIENTS = 4;
const MOST = { p50Ms: 100, p99Ms: 500 };
/** The same as in other cases that load processes to their limits. */
const BUSY_MEMORY = { peakMb: 400, growthMb: 250 };

let span: Span;
let acceptedWithinMs: number;
let received: number;
const experience = (installation: Installation): Experience => experienceIn(span, installation);

export const burst: FaultCase = {
  name: 'burst',
  about:
    'one account reports 100,000 events in batches as fast as it can; another account reports one ' +
    'event every 0.1 s, and is not delayed',
  rate: 10,
  producersNotice: 'nothing',
  duplicates: 'none',
  memory: BUSY_MEMORY,
  setup: { paths: ['/other'] },
  harm: async (installation) => {
    // In a separate process, because this one measures the other account.
    const target = await Receiver.start(installation.programs);
    const account = await makeAccount(installation, 'bursting', ['/now/burst'], target.url);
    span = await watched(installation, async () => {
      const start = performance.now();
      const client = () => account.producer.reportMany(EVENTS / CLIENTS, BATCH);
      await Promise.all(Array.from({ length: CLIENTS }, client));
      acceptedWithinMs = performance.now() - start;
      await target.reached(EVENTS);
    });
    received = (await target.received()).confirmed;
    await unsubscribe(installation, account);
  },
  check: (installation) => {
    const { p50Ms, p99Ms } = experience(installation);
    const breaches = [
      [p50Ms <= MOST.p50Ms, `the p50 of the other account was ${p50Ms.toFixed()} ms`],
      [p99Ms <= MOST.p99Ms, `its p99 was ${p99Ms.toFixed()} ms`],
      [received === EVENTS, `${String(received)} notifications of the burst arrived`],
    ] as const;
    return Promise.resolve(breaches.filter(([holds]) => !holds).map(([, breach]) => breach));
  },
  notes: (installation) => {
    const { p50Ms, p99Ms, reported, from, to } = experience(installation);
    return [
      `accepted within ${(acceptedWithinMs / 1_000).toFixed(1)} s, delivered within ` +
        `${((to - from) / 1_000).toFixed(1)} s; ` +
        `${String(reported)} single events of the other account: p50 ${p50Ms.toFixed()} ms, p99 ${p99Ms.toFixed()} ms`,
    ];
  },
};
