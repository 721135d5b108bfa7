import { expect, it } from 'vitest';
import { readUsers } from './user-import.js';

const read = (joinDate: string) => readUsers([{ id: '7000001', username: 'someone', joinDate }]);

it.each([
  ['2016-02-29T12:00:00Z', '2016-02-29T12:00:00.000Z'],
  ['2016-01-31T12:00+05:30', '2016-01-31T06:30:00.000Z'],
  ['2016-01-31T23:59:59.999-01:00', '2016-02-01T00:59:59.999Z'],
])('reads the time %s', (text, time) => {
  const { records, faults } = read(text);
  expect(faults).toEqual([]);
  expect(records[0]!.joinDate!.toISOString()).toBe(time);
});

it.each([
  // They mean another time in each zone.
  '2016-01-31T12:00:00',
  '2016-01-31',
  'Sun, 31 Jan 2016 12:00:00 GMT',
  // There is no such day or hour.
  '2016-02-30T12:00:00Z',
  '2015-02-29T12:00:00Z',
  '2016-13-01T12:00:00Z',
  '2016-01-32T12:00:00Z',
  '2016-01-31T24:00:00Z',
  '2016-01-31T25:00:00Z',
])('refuses the time %s', (text) => {
  expect(read(text).faults).toMatchObject([{ field: '/0/joinDate', code: 'format' }]);
});
