import { expect, it } from 'vitest';
import { timeOfId } from './time.js';

it('reads the time in an id', () => {
  const time = timeOfId('019a0b1c-2d3e-7f40-8a51-b26c73d84e95');
  expect(time.toISOString()).toBe('2025-10-22T08:49:47.326Z');
});
