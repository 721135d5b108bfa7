import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Application, contentOf, environmentIdOf, missingUrlFaults } from './application.js';

function anApplication(columns: Partial<Application> = {}): Application {
  return Object.assign(new Application(), {
    id: '5',
    name: 'Switchboard',
    apiType: 'scripting',
    voiceUrl: 'http://voice.example/',
    messagingUrl: null,
    environmentId: '1',
    ...columns,
  });
}

describe('Application.revisedBy', () => {
  it('returns only the fields whose values change', () => {
    const changes = { name: 'Exchange', voiceUrl: 'http://voice.example/', environmentId: '1' };
    expect(anApplication().revisedBy(changes)).toEqual({ name: 'Exchange' });
  });

  it('returns nothing for no changes and for the same values', () => {
    expect(anApplication().revisedBy({})).toEqual({});
    const same = {
      name: 'Switchboard',
      voiceUrl: 'http://voice.example/',
      messagingUrl: null,
      apiType: 'scripting',
      platform: 'scripting',
      environmentId: '1',
    } as const;
    expect(anApplication().revisedBy(same)).toEqual({});
  });

  it('clears a URL with null', () => {
    expect(anApplication().revisedBy({ voiceUrl: null })).toEqual({ voiceUrl: null });
  });

  it.each([
    { apiType: 'webapi' },
    { platform: 'webapi' },
    { apiType: 'webapi', platform: 'webapi' },
    { apiType: 'scripting', platform: 'webapi' },
    { apiType: 'webapi', platform: 'scripting' },
  ] as const)('uses the type that differs from the stored one: %j', (types) => {
    expect(anApplication().revisedBy(types)).toEqual({ apiType: 'webapi' });
  });

  it('compares URLs character for character', () => {
    expect(anApplication().revisedBy({ voiceUrl: 'http://VOICE.example/' })).toEqual({
      voiceUrl: 'http://VOICE.example/',
    });
  });
});

describe('contentOf', () => {
  it('uses scripting and the development environment by default', () => {
    expect(contentOf({ name: 'a', messagingUrl: 'http://m/' })).toEqual({
      name: 'a',
      apiType: 'scripting',
      messagingUrl: 'http://m/',
      environmentId: '1',
    });
  });
});

describe('missingUrlFaults', () => {
  it('finds no fault if one URL is left', () => {
    expect(missingUrlFaults(anApplication(), {})).toEqual([]);
    expect(
      missingUrlFaults(anApplication(), { messagingUrl: 'http://m/', voiceUrl: null }),
    ).toEqual([]);
  });

  it('finds a fault if no URL is left', () => {
    expect(missingUrlFaults(anApplication(), { voiceUrl: null })).toEqual([
      { field: 'voiceUrl', code: 'required', message: 'voiceUrl or messagingUrl is required.' },
    ]);
  });
});

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
