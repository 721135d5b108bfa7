import { describe, expect, it } from 'vitest';
import { durationText, relativeText, utcText } from './time-text.js';

const NOW = Date.parse('2026-11-25T12:00:00Z');

describe('a relative time', () => {
  it.each([
    [0, 'just now'],
    [-999, 'just now'],
    [-1_000, '1 second ago'],
    [-59_999, '59 seconds ago'],
    [-60_000, '1 minute ago'],
    [7_200_000, 'in 2 hours'],
    [-86_400_000, 'yesterday'],
    [-20 * 86_400_000, '20 days ago'],
  ])('of %i ms is "%s"', (ms, text) => {
    expect(relativeText(NOW + ms, NOW)).toBe(text);
  });
});

it.each([
  [0, '0 ms'],
  [999, '999 ms'],
  [1_540, '1.5 s'],
  [60_000, '1 minute'],
  [900_000, '15 minutes'],
  [7_200_000, '2 hours'],
])('writes a duration of %i ms as "%s"', (ms, text) => {
  expect(durationText(ms)).toBe(text);
});

it('writes a time in UTC with its milliseconds', () => {
  expect(utcText('2026-11-25T14:02:31.123Z')).toBe('2026-11-25 14:02:31.123 UTC');
});
