import { expect, it } from 'vitest';
import { shortageOf, SHORTAGES } from './shortage.js';

const errorOf = (code: string) => Object.assign(new Error(`connect ${code}`), { code });

it.each(SHORTAGES)('knows %s, also as a cause', (code) => {
  expect(shortageOf(errorOf(code))).toBe(code);
  expect(shortageOf(new Error('x', { cause: errorOf(code) }))).toBe(code);
});

it.each(['ECONNREFUSED', 'ENETUNREACH', 'ETIMEDOUT', 'EPIPE'])(
  'knows that %s is no lack of resources',
  (code) => {
    expect(shortageOf(errorOf(code))).toBeUndefined();
  },
);
