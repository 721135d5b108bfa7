import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { localText } from './time.js';

beforeEach(() => {
  vi.useFakeTimers({ now: new Date(2026, 10, 30, 0, 14) });
});
afterEach(() => {
  vi.useRealTimers();
});

it.each([
  ['without the date', 'minutes ago, before midnight', new Date(2026, 10, 29, 23, 52), false],
  ['without the date', 'later today', new Date(2026, 10, 30, 20, 0), false],
  ['with the date', 'yesterday at noon', new Date(2026, 10, 29, 12, 0), true],
])('shows a time %s: %s', (_, __, time, hasDate) => {
  expect(localText(time.toISOString()).includes('2026')).toBe(hasDate);
});
