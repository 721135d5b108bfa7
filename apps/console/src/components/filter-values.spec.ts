import { expect, it } from 'vitest';
import { localInputOf, timeOfInput } from './filter-values.js';

it('converts times between the address and an input', () => {
  const time = '2026-11-25T14:02:31.000Z';
  expect(localInputOf(time)).toMatch(/^2026-11-2\dT\d\d:\d\d:31$/);
  expect(timeOfInput(localInputOf(time))).toBe(time);
});

it.each(['', 'yesterday', '2026-99-99'])('takes "%s" for no time', (text) => {
  expect([localInputOf(text), timeOfInput(text)]).toEqual(['', '']);
});
