import { expect, it } from 'vitest';
import { leftOutText, outlookText } from './outlook-text.js';

it.each([
  [{ now: 3, waiting: {} }, undefined],
  [{ now: 0, waiting: { paused: 1 } }, 'none goes now, 1 waits for a paused subscription'],
  [
    { now: 1, waiting: { pace: 1_200 } },
    '1 goes now, 1,200 wait for the pace of their subscription',
  ],
  [
    { now: 3, waiting: { hold: 4, paused: 2, circuit: 1, schedule: 1 } },
    '3 go now, 2 wait for a paused subscription, 1 for an open circuit, 1 for a later time, 4 for our own network',
  ],
])('says how many deliveries of %o go now, and why the others wait', (outlook, text) => {
  expect(outlookText(outlook)).toBe(text);
});

it.each([
  [{}, undefined],
  [{ off: 1 }, 'left out: 1 for a disabled subscription'],
  [
    { erased: 1, test: 1_200, deleted: 3, off: 2 },
    'left out: 2 for disabled subscriptions, 3 for deleted subscriptions, 1,200 tests, 1 for an erased event',
  ],
])('says how many of %o are left out, and why', (leftOut, text) => {
  expect(leftOutText(leftOut)).toBe(text);
});
