import fc from 'fast-check';
import { expect, it } from 'vitest';
import { compareNumbers, exactNumber } from './exact-number.js';

/** -1, 0 or 1, never -0. */
const order = (one: string, other: string) =>
  Math.sign(compareNumbers(exactNumber(one), exactNumber(other))) + 0;

it.each([
  ['1', '1.0'],
  ['100', '1e2'],
  ['100', '1E+2'],
  ['0.001', '1e-3'],
  ['0', '-0'],
  ['0', '0.000e999'],
  ['1e400', '10e399'],
  ['12345678901234567890', '1234567890123456789.0e1'],
  ['-1.50', '-15e-1'],
])('takes %s and %s for equal', (one, other) => {
  expect([order(one, other), order(other, one)]).toEqual([0, 0]);
});

it.each([
  ['12345678901234567890', '12345678901234567891'],
  ['0.1', '0.1000000000000000000000000000001'],
  ['-2', '-1'],
  ['-1', '0'],
  ['0', '1e-400'],
  ['9', '10'],
  ['1e400', '1e401'],
  ['-1e401', '-1e400'],
  ['1e99999999', '1e999999999999999999999'],
  ['1e-999999999999999999999', '1e-99999999'],
])('takes %s for less than %s', (less, greater) => {
  expect([order(less, greater), order(greater, less)]).toEqual([-1, 1]);
});

it('orders decimal numbers like integers of the same unit', () => {
  const units = fc.bigInt({ min: -(10n ** 30n), max: 10n ** 30n });
  fc.assert(
    fc.property(units, units, fc.nat(20), fc.nat(20), (one, other, places, zeros) => {
      const spelled = `${one}${'0'.repeat(zeros)}e-${places + zeros}`;
      expect(order(spelled, `${other}e-${places}`)).toBe(one < other ? -1 : Number(one > other));
    }),
  );
});

it('reads a number of 128 KB', () => {
  const digits = `1${'0'.repeat(131_000)}1`;
  expect(order(digits, `${digits.slice(0, -1)}2`)).toBe(-1);
  expect(order(`0.${'0'.repeat(131_000)}1`, '0')).toBe(1);
});
