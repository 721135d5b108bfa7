import type { Request } from 'express';
import { expect, it } from 'vitest';
import { ValidationError } from '#libs/kernel';
import { choice, text as textParameter, TIMES } from './query-parameters.js';
import { parseQuery, type QueryParameters, readQuery } from './query.js';

function read<Of extends QueryParameters>(of: Of, query: string, request: object = {}) {
  const all = { query: parseQuery(query), params: {}, headers: {}, ...request };
  return readQuery(of, all as unknown as Request);
}

const timesIn = (query: string) => read(TIMES, query);

it.each([
  ['since=2026-01-31T13:00:00+01:00', '2026-01-31T12:00:00.000Z'],
  ['since=2026-01-31T13:00:00%2B01:00', '2026-01-31T12:00:00.000Z'],
  ['since=2026-01-31T13:00:00%2b01%3A00', '2026-01-31T12:00:00.000Z'],
  ['since=2026-01-31T13:00:00%2001:00', '2026-01-31T12:00:00.000Z'],
  ['since=2026-01-31+13:00:00.250+01:00', '2026-01-31T12:00:00.250Z'],
  ['since=2026-01-31+12:00:00Z', '2026-01-31T12:00:00.000Z'],
  ['since=2026-01-31T11:00:00-01:00', '2026-01-31T12:00:00.000Z'],
])('reads the time in ?%s', (query, time) => {
  expect(timesIn(query).since?.toISOString()).toBe(time);
  expect(timesIn(query.replace('since', 'until')).until?.toISOString()).toBe(time);
});

it.each([
  ...[
    '',
    'yesterday',
    '2026-01-31',
    '2026-01-31T12:00:00',
    '2026-01-31+12:00',
    '2026-01-31+12:00:00',
  ],
  ...['1769860800', '1769860800000', '2026-01-31T13:00:00++01:00', '2026-01-31T13:00:00+0100'],
  ...['2026-01-31T13:00:00+01:00Z', '+2026-01-31T12:00:00Z', '2026-01-31T13:00:00Z+01:00'],
])('refuses ?since=%s', (time) => {
  expect(() => timesIn(`since=${time}`)).toThrow(
    /^The query parameter since must be an RFC 3339 time with Z or an offset, such as /,
  );
});

it.each([
  ['+14075551234', '+14075551234'],
  ['%2B14075551234', '+14075551234'],
  ['+1+407', '+1 407'],
  ['%2014075551234', ' 14075551234'],
  ['a+01:00', 'a 01:00'],
  ['a=+1', 'a= 1'],
  ['%22duration%22:+33258', '"duration": 33258'],
  ['+a', ' a'],
  ['++1', '  1'],
])('reads the text %s as %j', (sent, text) => {
  const contains = textParameter('', '');
  expect(read({ contains }, `event=x&contains=${sent}`)).toEqual({ contains: text });
  expect(read({ contains }, `contains=${sent}&event=x`)).toEqual({ contains: text });
});

it('reads nothing without a query', () => {
  expect({ ...parseQuery(null) }).toEqual({});
});

it('names a parameter that is given twice', () => {
  const readTwice = () => timesIn('since=2026-01-31T12:00:00Z&since=2026-01-31T13:00:00Z');
  expect(readTwice).toThrow(ValidationError);
  expect(readTwice).toThrow('The query parameter since must be given only once.');
});

it('ignores a parameter at an address that does not have it, unless the handling is strict', () => {
  const scope = { ...choice('', ['all']), unless: 'applicationId' };
  const params = { applicationId: '1' };
  expect(() => read({ scope }, 'scope=x')).toThrow('scope must be one of all.');
  expect(read({ scope }, 'scope=x', { params })).toEqual({});
  const headers = { prefer: 'handling=strict' };
  expect(read({ scope }, 'scope=all', { headers })).toEqual({ scope: 'all' });
  expect(() => read({ scope }, 'scope=all', { params, headers })).toThrow(
    'scope is not known here',
  );
});
