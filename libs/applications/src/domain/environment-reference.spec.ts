import fc from 'fast-check';
import { expect, it } from 'vitest';
import { environmentIdOf } from './environment-reference.js';

/** Characters that an encoder or a parser might change. */
const characters = fc.constantFrom(
  ...Array.from('aZ09:=+/-_., "\\\t\n\0\u0085\u00a0é—😀\u{10ffff}'),
);

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

const ids = fc.bigInt({ min: 0n, max: 10n ** 30n }).map(String);
const folders = fc.array(fc.stringMatching(/^[^\s?#\u0000-\u001f\ud800-\udfff]{0,6}$/), {
  maxLength: 3,
});

it('reads the id from any address of an environment, and from any number', () => {
  const hosts = fc.oneof(
    fc.webAuthority(),
    fc.ipV6().map((ip) => `[${ip}]:3000`),
  );
  const origins = fc.oneof(
    fc.constant(''),
    hosts.map((host) => `https://${host}`),
  );
  fc.assert(
    fc.property(origins, folders, ids, fc.constantFrom('', '/'), (origin, path, id, end) => {
      const prefix = path.map((folder) => `/${folder}`).join('');
      expect(environmentIdOf(`${origin}${prefix}/v1/environments/${id}${end}`)).toBe(id);
      expect(environmentIdOf(id)).toBe(id);
    }),
  );
  fc.assert(
    fc.property(fc.maxSafeNat(), (id) => {
      expect(environmentIdOf(id)).toBe(String(id));
    }),
  );
});

it('reads from anything else nothing, or the digits at its end', () => {
  const texts = fc.oneof(
    fc.string({ unit: characters }),
    fc.string({
      unit: fc.constantFrom('/', 'v1', 'environments', '1', '?', '#', ':', 'h', ' ', '\0'),
    }),
  );
  fc.assert(
    fc.property(fc.oneof(texts, fc.anything()), (value) => {
      const id = environmentIdOf(value);
      if (id === undefined) return;
      expect(id).toMatch(/^\d+$/);
      expect(typeof value === 'number' ? String(value) : value).toMatch(
        new RegExp(`^(?:${id}|[^?#\\s]*/v1/environments/${id}/?)$`),
      );
    }),
    { numRuns: 2_000 },
  );
});
