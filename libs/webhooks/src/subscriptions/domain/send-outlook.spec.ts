import { expect, it } from 'vitest';
import { addOutlook, outlookOf, type SendConditions } from './send-outlook.js';

const HEALTHY: SendConditions = {
  paused: false,
  isRetryLater: false,
  circuit: 'closed',
  isBehind: false,
  maxPerSecond: null,
  maxConcurrent: null,
  ordered: false,
  paceWaits: false,
};

it.each<[string, Partial<SendConditions>, { now: number; waiting: object }]>([
  ['healthy', {}, { now: 5, waiting: {} }],
  ['paused', { paused: true }, { now: 0, waiting: { paused: 5 } }],
  [
    'paused with an open circuit',
    { paused: true, circuit: 'open' },
    { now: 0, waiting: { paused: 5 } },
  ],
  ['asked to wait', { isRetryLater: true }, { now: 0, waiting: { schedule: 5 } }],
  ['with an open circuit', { circuit: 'open' }, { now: 0, waiting: { circuit: 5 } }],
  ['with a half-open circuit', { circuit: 'half-open' }, { now: 0, waiting: { circuit: 5 } }],
  ['behind an earlier replay', { isBehind: true }, { now: 0, waiting: { schedule: 5 } }],
  ['limited to 2 a second', { maxPerSecond: 2 }, { now: 2, waiting: { pace: 3 } }],
  ['limited to 5 a second', { maxPerSecond: 5 }, { now: 5, waiting: {} }],
  ['limited to 3 at once', { maxPerSecond: 4, maxConcurrent: 3 }, { now: 3, waiting: { pace: 2 } }],
  ['ordered', { ordered: true, maxPerSecond: 4 }, { now: 1, waiting: { pace: 4 } }],
  [
    'at the limit of its pace',
    { maxConcurrent: 9, paceWaits: true },
    { now: 0, waiting: { pace: 5 } },
  ],
  ['paused and paced', { paused: true, maxPerSecond: 1 }, { now: 0, waiting: { paused: 5 } }],
])('tells how many deliveries of a subscription that is %s go now', (_, of, told) => {
  expect(outlookOf(5, { ...HEALTHY, ...of }, false)).toEqual(told);
});

it.each<[string, Partial<SendConditions>, object]>([
  ['healthy', {}, { hold: 5 }],
  ['paced', { maxPerSecond: 1 }, { hold: 5 }],
  ['behind an earlier replay', { isBehind: true }, { hold: 5 }],
  ['about to be probed', { circuit: 'half-open' }, { hold: 5 }],
  ['paused', { paused: true }, { paused: 5 }],
  ['with an open circuit', { circuit: 'open' }, { circuit: 5 }],
])('during a hold, tells what those of a subscription that is %s wait for', (_, of, waiting) => {
  expect(outlookOf(5, { ...HEALTHY, ...of }, true)).toEqual({ now: 0, waiting });
});

it('names no reason without deliveries', () => {
  expect(outlookOf(0, { ...HEALTHY, paused: true }, true)).toEqual({ now: 0, waiting: {} });
});

it('adds up by reason', () => {
  const total = { now: 1, waiting: { paused: 1 } };
  addOutlook(total, { now: 2, waiting: { paused: 2, pace: 3 } });
  expect(total).toEqual({ now: 3, waiting: { paused: 3, pace: 3 } });
});
