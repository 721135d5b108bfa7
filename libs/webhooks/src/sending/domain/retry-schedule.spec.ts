import { expect, it } from 'vitest';
import { retryDelay } from './retry-schedule.js';

it('varies each delay of the schedule by up to a fifth', () => {
  expect(retryDelay([5_000, 30_000], 1, 0.5)).toBe(5_000);
  expect(retryDelay([5_000, 30_000], 2, 0)).toBe(24_000);
  expect(retryDelay([5_000, 30_000], 2, 1)).toBe(36_000);
});

it('ends after the last delay, and at once if the schedule is empty', () => {
  expect(retryDelay([5_000], 2, 0.5)).toBeUndefined();
  expect(retryDelay([], 1, 0.5)).toBeUndefined();
});
