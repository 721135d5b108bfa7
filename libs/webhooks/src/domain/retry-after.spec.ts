import { expect, it, vi } from 'vitest';
import { retryAfter } from './retry-after.js';

const now = new Date('2026-11-21T12:00:00.500Z');

it('reads seconds', () => {
  expect(retryAfter('120', now)).toBe(120_000);
  expect(retryAfter(' 7 ', now)).toBe(7_000);
});

it('reads the three forms of an HTTP date', () => {
  expect(retryAfter('Sat, 21 Nov 2026 12:01:00 GMT', now)).toBe(59_500);
  expect(retryAfter('Saturday, 21-Nov-26 12:01:00 GMT', now)).toBe(59_500);
  expect(retryAfter('Sat Nov 21 12:01:00 2026', now)).toBe(59_500);
});

it('reads dates in GMT, wherever it runs', () => {
  vi.stubEnv('TZ', 'America/New_York');
  try {
    expect(retryAfter('Sat Nov 21 12:01:00 2026', now)).toBe(59_500);
  } finally {
    vi.unstubAllEnvs();
  }
});

it('waits a day at the most', () => {
  expect(retryAfter('99999999999999999999', now)).toBe(86_400_000);
  expect(retryAfter('Sat, 21 Nov 2099 12:01:00 GMT', now)).toBe(86_400_000);
});

it.each([
  undefined,
  '',
  '0',
  '-1',
  '1.5',
  'soon',
  '2026-11-22',
  'Sat, 21 Nov 2026 11:59:59 GMT',
  '0x10',
  'NaN',
])('takes %s for none', (header) => {
  expect(retryAfter(header, now)).toBeUndefined();
});
