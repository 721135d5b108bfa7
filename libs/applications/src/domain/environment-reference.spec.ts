import { expect, it } from 'vitest';
import { environmentIdOf } from './environment-reference.js';

it.each([
  [2, '2'],
  [0, '0'],
  ['2', '2'],
  ['99999999999999999999', '99999999999999999999'],
  ['/v1/environments/2', '2'],
  ['/v1/environments/2/', '2'],
  ['/api/v1/environments/31', '31'],
  ['https://api.example.com/v1/environments/2', '2'],
  ['http://[::1]:3000/any/prefix/v1/environments/2', '2'],
  ['HTTPS://API.EXAMPLE.COM/v1/environments/2', '2'],
])('reads %j as environment %s', (reference, id) => {
  expect(environmentIdOf(reference)).toBe(id);
});

it.each([
  -1,
  1.5,
  2 ** 53,
  true,
  null,
  undefined,
  '',
  ' 2',
  '-2',
  '+2',
  '2.0',
  'production',
  'v1/environments/2',
  'api.example.com/v1/environments/2',
  '/v1/environments/',
  '/v1/environments/two',
  '/v1/environments/2/x',
  '/v1/Environments/2',
  '/v2/environments/2',
  '/v1/environments/2?x=1',
  'https:///v1/environments/2',
  'https://h/?next=/v1/environments/2',
  '/xv1/environments/2',
])('finds no environment in %j', (reference) => {
  expect(environmentIdOf(reference)).toBeUndefined();
});
