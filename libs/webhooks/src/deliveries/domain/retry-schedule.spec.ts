import { expect, it } from 'vitest';
import { retryDelay } from './retry-schedule.js';

it('gives each failure its delay, within a fifth more or less', () => {
  expect(retryDelay([5_000, 30_000], 1, 0.5)).toBe(5_000);
  expect(retryDelay([5_000, 30_000], 2, 0)).toBe(24_000);
  expect(retryDelay([5_000, 30_000], 2, 1)).toBe(36_000);
});

it('ends when the schedule is used up, and at once when it is empty', () => {
  expect(retryDelay([5_000], 2, 0.5)).toBeUndefined();
  expect(retryDelay([], 1, 0.5)).toBeUndefined();
});
