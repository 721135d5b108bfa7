import { expect, it } from 'vitest';
import { queryOf } from './lists.js';

it('leaves out filters without a value, and escapes what would not be read as it was given', () => {
  expect(queryOf({})).toBe('');
  expect(queryOf({ since: undefined, contains: '+1 407', producerId: ' 12&' })).toBe(
    '?contains=%2B1%20407&producerId=%2012%26',
  );
});
