import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { ROOT } from '#tools/settings';
import type { FaultCase } from '../harness/fault-case.js';
import { confirm } from '../harness/receiver.js';

const MODULE = join(ROOT, 'test/faults/harness/shifted-clock.mjs');
const SHIFTS: Record<string, number> = {
  'api-1': 60_000,
  'api-2': -60_000,
  'worker-1': -60_000,
  'worker-2': 60_000,
};
/** Receivers reject timestamps that are minutes off. A loaded machine can be some seconds late. */
const MOST_SECONDS_OFF = 20;

export const clocksApart: FaultCase = {
  name: 'clocks-apart',
  about:
    'process clocks are a minute fast or slow; retries and signatures still have the right time',
  producersNotice: 'nothing',
  duplicates: 'none',
  setup: {
    environment: (name) => ({
      NODE_OPTIONS: `--import ${MODULE}`,
      CLOCK_SHIFT_MS: String(SHIFTS[name] ?? 0),
    }),
  },
  harm: async ({ receiver }, random) => {
    receiver.answering = (arrival, response) => {
      if (arrival.earlier === 0 && random.isTrue(0.3)) response.writeHead(503).end();
      else confirm(arrival, response);
    };
    await sleep(12_000);
  },
  check: ({ receiver }) => {
    const off = receiver.received.filter(({ headers, at }) => {
      const signedAt = Number(headers['webhook-timestamp']);
      return !(Math.abs(signedAt - at / 1_000) <= MOST_SECONDS_OFF);
    });
    return Promise.resolve(
      off.length === 0
        ? []
        : [`${String(off.length)} notifications had a wrong time in their signature`],
    );
  },
};
