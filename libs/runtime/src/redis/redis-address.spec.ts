import fc from 'fast-check';
import { Redis } from 'ioredis';
import { describe, expect, it } from 'vitest';
import { readConfig, storeAddresses } from '../config/config.js';
import { redisAddressOf } from './redis-address.js';

const node = (host: string, port: number) => ({ host, port });

describe('a single server', () => {
  it.each(['redis://host', 'rediss://user:p%40ss@host:6380/3', 'redis://[::1]:6379'])(
    '%s is passed to the Redis client unchanged',
    (url) => expect(redisAddressOf(url)).toEqual({ kind: 'server', url }),
  );
});

describe('several servers', () => {
  it('can be nodes of a cluster', () => {
    expect(redisAddressOf('redis+cluster://one,two:7001,[::1]:7002')).toEqual({
      kind: 'cluster',
      nodes: [node('one', 6_379), node('two', 7_001), node('::1', 7_002)],
      login: {},
      tls: false,
    });
  });

  it('can be sentinels of a primary, with its login and TLS', () => {
    expect(redisAddressOf('rediss+sentinel://me:p%40ss@one,two:27000/mymaster/2')).toEqual({
      kind: 'sentinel',
      nodes: [node('one', 26_379), node('two', 27_000)],
      name: 'mymaster',
      db: 2,
      login: { username: 'me', password: 'p@ss' },
      tls: true,
    });
  });

  it('can have a password without a username', () => {
    expect(redisAddressOf('redis+cluster://:secret@one')).toMatchObject({
      login: { password: 'secret' },
    });
  });
});

describe('a password beside the address', () => {
  const ascii = Array.from({ length: 95 }, (_, index) => String.fromCharCode(32 + index)).join('');
  const password = `${ascii}ü€`;

  it.each(['redis://host', 'rediss://host:1/2', 'redis://me@[::1]:1'])(
    'reaches the Redis client with %s',
    (text) => {
      const address = redisAddressOf(text, password);
      const client = new Redis(address?.kind === 'server' ? address.url : '', {
        lazyConnect: true,
      });
      expect(client.options.password).toBe(password);
    },
  );

  it('completes the login of several servers', () => {
    expect(redisAddressOf('redis+cluster://me@one', password)).toMatchObject({
      login: { username: 'me', password },
    });
  });

  it.each(['redis://:own@host', 'redis+sentinel://:own@host/name'])(
    'does not replace the password in %s',
    (text) => expect(redisAddressOf(text, password)).toEqual(redisAddressOf(text)),
  );
});

describe('a password that is not percent-encoded', () => {
  /** The addresses with this password, and the name of each without a login. */
  const addressesOf = (password: string): [text: string, name: string][] => [
    [`redis://user:${password}@host:6380/1`, 'host:6380/1'],
    [`rediss://:${password}@host`, 'host'],
    [`redis+cluster://user:${password}@one,two:7001`, 'one:6379,two:7001'],
    [`redis+sentinel://user:${password}@one,two/name/1`, 'one:26379,two:26379'],
  ];

  /** Checks that each address is read with this password, or refused without repeating it. */
  function expectRead(password: string): void {
    for (const [REDIS_URL, name] of addressesOf(password)) {
      const address = redisAddressOf(REDIS_URL);
      if (address === undefined) continue;
      expect(storeAddresses(readConfig({ DATABASE_URL: 'postgres://h/d', REDIS_URL })).redis).toBe(
        name,
      );
      if (password.includes('%')) continue;
      const used =
        address.kind === 'server'
          ? new Redis(address.url, { lazyConnect: true }).options.password
          : address.login.password;
      expect(used).toBe(password);
    }
  }

  it.each([
    ...['SECRET@SECRET', 'SECRET:SECRET', 'SECRET/SECRET', 'SECRET?SECRET', 'SECRET#SECRET'],
    ...['SECRET%SECRET', '1/SECRET', '1?SECRET', '1#SECRET', 'SECRET@SECRET/SECRET', 'SECRET@1/1'],
    ...['SECRET,SECRET', '[SECRET]'],
  ])('is read as it is, or refused: %s', (password) => expectRead(password));

  it('never becomes a part of the address', () => {
    const parts = fc.constantFrom(
      ...['SECRET', '1', '@', ':', '/', '?', '#', '%', '[', ']', ',', '=', '&', '%20'],
      ...[' ', '\\'],
    );
    fc.assert(
      fc.property(fc.array(parts, { minLength: 1 }), (pieces) => expectRead(pieces.join(''))),
      { numRuns: 2_000 },
    );
  });
});

it.each([
  '',
  'host:6379',
  'http://host',
  'redis://',
  'redis://host:port',
  'redis+cluster://',
  'redis+cluster://one,',
  'redis+cluster://one:70000',
  'redis+cluster://one/name',
  'redis+cluster://%@one',
  'redis+cluster://%zz:x@one',
  'redis+sentinel://one',
  'redis+sentinel://one/name/db',
  'redis+other://one',
])('%j is not an address', (text) => expect(redisAddressOf(text)).toBeUndefined());
