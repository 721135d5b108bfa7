import { describe, expect, it } from 'vitest';
import { countdownText, overlapOf } from './overlap.js';

const NOW = Date.parse('2026-11-25T14:00:00.000Z');

describe('the overlap after a rotation', () => {
  it('lasts 24 hours from the last rotation', () => {
    const replacedAt = ['2026-11-25T13:00:00.000Z', '2026-11-24T15:00:00.000Z'];
    expect(overlapOf(replacedAt, NOW)).toEqual({
      count: 2,
      until: Date.parse('2026-11-26T13:00:00.000Z'),
    });
    expect(overlapOf(replacedAt, NOW + 3_600_000)?.count).toBe(1);
  });

  it('ends afterwards', () => {
    expect(overlapOf(['2026-11-24T14:00:00.000Z'], NOW)).toBeUndefined();
    expect(overlapOf([], NOW)).toBeUndefined();
  });

  it('has ten old keys at most', () => {
    const replacedAt = Array.from({ length: 12 }, () => '2026-11-25T13:00:00.000Z');
    expect(overlapOf(replacedAt, NOW)?.count).toBe(10);
  });
});

it('a countdown has hours, minutes and seconds', () => {
  expect(countdownText(86_400_000 - 52_000)).toBe('23:59:08');
  expect(countdownText(100)).toBe('00:00:01');
  expect(countdownText(-5)).toBe('00:00:00');
});
