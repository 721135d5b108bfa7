import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { OutboundPolicy } from '#libs/outbound';
import { readConfig } from '#libs/runtime';
import {
  MALFORMED_HOSTS,
  NAMED_HOSTS,
  PUBLIC_HOSTS,
  REFUSED_HOSTS,
} from '../../../../../test/support/targets.js';
import {
  hasTargetHost,
  hasTargetPort,
  isMaskedTargetUrl,
  shownTargetUrl,
  targetHost,
  targetUrlValidator,
} from './target-url.js';

const isTargetUrl = (url: string): boolean => targetUrlValidator.check(url).length === 0;

const policy = (variables: Record<string, string> = {}) =>
  new OutboundPolicy(readConfig({ DATABASE_URL: 'postgres://unused', ...variables }));
const NOTHING_CONFIGURED = policy();
const allowing = (networks: string) => policy({ DELIVERY_ALLOWED_NETWORKS: networks });

describe('shownTargetUrl', () => {
  it.each([
    ['https://host/path?q', 'https://host/path?q'],
    ['https://user:pass@host/path', 'https://***@host/path'],
    ['https://user@host', 'https://***@host'],
    ['https://@host/', 'https://***@host/'],
    ['HTTPS://a:b@c@host/', 'HTTPS://***@host/'],
    ['https://host/@x', 'https://host/@x'],
    ['https://host?a@b', 'https://host?a@b'],
    ['https://u:p@host/@x?y@z', 'https://***@host/@x?y@z'],
    ['https://host\\@other/', 'https://host\\@other/'],
  ])('shows %s as %s', (url, shown) => {
    expect(shownTargetUrl(url)).toBe(shown);
  });
});

describe('isMaskedTargetUrl', () => {
  it('accepts only the exact mask as user information', () => {
    expect(isMaskedTargetUrl('https://***@host/')).toBe(true);
    expect(isMaskedTargetUrl('https://***:x@host/')).toBe(false);
    expect(isMaskedTargetUrl('https://host/***@')).toBe(false);
  });
});

describe('hasTargetPort', () => {
  it.each([
    'http://h',
    'http://h:80',
    'https://h:80',
    'http://h:443',
    'http://h:1024',
    'http://h:65535',
  ])('allows %s', (url) => {
    expect(hasTargetPort(url, NOTHING_CONFIGURED)).toBe(true);
  });

  it.each(['http://h:0', 'http://h:25', 'https://h:22', 'http://h:1023', 'http://h:081'])(
    'refuses %s',
    (url) => {
      expect(hasTargetPort(url, NOTHING_CONFIGURED)).toBe(false);
    },
  );
});

describe('hasTargetHost', () => {
  it.each([
    'http://127.1/',
    'http://127.0.0.1./',
    'http://0x7f000001/',
    'http://%31%32%37.0.0.1/',
    'http://１２７.0.0.1/',
    'http://user@127.0.0.1:8080/',
  ])('recognizes 127.0.0.1 in the spelling %s', (url) => {
    expect(hasTargetHost(url, NOTHING_CONFIGURED)).toBe(false);
    expect(hasTargetHost(url, allowing('127.0.0.1'))).toBe(true);
    expect(hasTargetHost(url, allowing('127.0.0.2'))).toBe(false);
  });

  it('checks literal IPv6 addresses', () => {
    expect(hasTargetHost('http://[::1]:8080/', NOTHING_CONFIGURED)).toBe(false);
    expect(hasTargetHost('http://[0:0::1]:8080/', allowing('::1'))).toBe(true);
  });

  it.each(['localhost', 'LOCALHOST', 'localhost.', 'a.localhost', 'a.localhost.', 'loc%61lhost'])(
    'treats %s as loopback',
    (host) => {
      expect(hasTargetHost(`http://${host}/`, NOTHING_CONFIGURED)).toBe(false);
      expect(hasTargetHost(`http://${host}/`, allowing('127.0.0.1'))).toBe(true);
      expect(hasTargetHost(`http://${host}/`, allowing('::1'))).toBe(true);
    },
  );

  it.each(['example.com', 'localhost.example.com', 'notlocalhost', '127.0.0.1.nip.io', 'intranet'])(
    'lets the name %s pass',
    (host) => {
      const nothing = policy({ DELIVERY_DENIED_NETWORKS: '0.0.0.0/0,::/0' });
      expect(hasTargetHost(`http://${host}/`, nothing)).toBe(true);
    },
  );
});

/** A number as a URL may spell it. */
const numeral = (value: number): fc.Arbitrary<string> =>
  fc.tuple(fc.constantFrom(10, 8, 16), fc.nat(2), fc.boolean()).map(([radix, zeros, isUpper]) => {
    const digits = value.toString(radix);
    if (radix === 10) return digits;
    const prefix = radix === 8 ? '0' : '0x';
    const text = prefix + '0'.repeat(zeros) + digits;
    return isUpper ? text.toUpperCase() : text;
  });

const FULL_WIDTH = 0xff10 - 0x30;
/** A character as a URL may write it: itself, full-width, or escaped. */
const written = (character: string): fc.Arbitrary<string> =>
  fc.constantFrom(
    character,
    character === '.'
      ? '\u3002'
      : /\d/.test(character)
        ? String.fromCharCode(character.charCodeAt(0) + FULL_WIDTH)
        : character,
    `%${character.charCodeAt(0).toString(16)}`,
  );

/** Repeats the bytes that decide whether an address is public, so that they come up often enough. */
const byte = fc.oneof(
  fc.nat(255),
  fc.constantFrom(0, 1, 2, 10, 16, 63, 64, 88, 99, 100, 113, 127, 168, 169, 172, 192, 198, 203),
);

/** An IPv4 address and one of its spellings: 1 to 4 numbers, the last of which covers the remaining bytes. */
const spelledIpv4 = fc
  .tuple(fc.array(byte, { minLength: 4, maxLength: 4 }), fc.integer({ min: 1, max: 4 }))
  .chain(([bytes, count]) => {
    const rest = bytes.slice(count - 1).reduce((sum, next) => sum * 256 + next, 0);
    const numbers = [...bytes.slice(0, count - 1), rest];
    return fc
      .tuple(...numbers.map(numeral))
      .chain((parts) => fc.tuple(...Array.from(parts.join('.'), written)))
      .map((characters) => ({ address: bytes.join('.'), host: characters.join('') }));
  });

describe('for any input', () => {
  it('checks an IPv4 address alike in every spelling', () => {
    fc.assert(
      fc.property(spelledIpv4, ({ address, host }) => {
        const url = `http://${host}/`;
        expect(isTargetUrl(url)).toBe(true);
        const plain = `http://${address}/`;
        expect(hasTargetHost(url, NOTHING_CONFIGURED)).toBe(
          hasTargetHost(plain, NOTHING_CONFIGURED),
        );
        expect(hasTargetHost(url, allowing(address))).toBe(true);
        const denied = policy({ DELIVERY_DENIED_NETWORKS: address });
        expect(hasTargetHost(url, denied)).toBe(false);
      }),
      { numRuns: 1_000 },
    );
  });

  it('refuses IPv6 addresses that embed a non-public IPv4 address', () => {
    const hex = (high: number, low: number) => ((high << 8) | low).toString(16);
    fc.assert(
      fc.property(
        fc.tuple(byte, byte, byte, byte),
        fc.constantFrom('::', '::ffff:', '::ffff:0:', '64:ff9b::', '64:ff9b:1::', '2a00::5efe:'),
        ([a, b, c, d], carrier) => {
          const url = `http://[${carrier}${hex(a, b)}:${hex(c, d)}]/`;
          const isPublic = hasTargetHost(`http://${[a, b, c, d].join('.')}/`, NOTHING_CONFIGURED);
          expect(hasTargetHost(url, NOTHING_CONFIGURED)).toBe(false);
          // ::1 and :: embed no IPv4 address.
          const isItself = carrier === '::' && a + b + c === 0 && d < 2;
          expect(hasTargetHost(url, allowing('::/0'))).toBe(isPublic || isItself);
        },
      ),
    );
  });

  it('never throws', () => {
    const host = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.string({
        unit: fc.constantFrom(...Array.from('[]:.%@#?/\\0123456789abcdefx。localhost-\u00ad')),
      }),
      fc.webAuthority({ withIPv4: true, withIPv4Extended: true, withIPv6: true, withPort: true }),
    );
    fc.assert(
      fc.property(host, (text) => {
        const url = `http://${text}`;
        if (!isTargetUrl(url)) return;
        expect(typeof hasTargetHost(url, NOTHING_CONFIGURED)).toBe('boolean');
        expect(typeof hasTargetPort(url, NOTHING_CONFIGURED)).toBe('boolean');
        expect(new URL(shownTargetUrl(url)).host).toBe(new URL(url).host);
      }),
      { numRuns: 2_000 },
    );
  });
});

describe('when a target URL is stored', () => {
  const kinds = Object.entries(REFUSED_HOSTS);
  const urlOf = (host: string): string => `http://${host}/`;
  /** An address as it is written in the authority of a URL. */
  const inAuthority = (address: string): string =>
    address.includes(':') ? `[${address}]` : address;

  it('the test covers hundreds of spellings', () => {
    expect(new Set(kinds.flatMap(([, hosts]) => hosts)).size).toBeGreaterThan(180);
    expect(new Set(PUBLIC_HOSTS.map(([host]) => host)).size).toBeGreaterThan(30);
  });

  it.each(kinds)('%s: refused in every spelling', (_kind, hosts) => {
    expect(hosts.filter((host) => !isTargetUrl(urlOf(host)))).toEqual([]);
    expect(hosts.filter((host) => hasTargetHost(urlOf(host), policy()))).toEqual([]);
  });

  it.each(PUBLIC_HOSTS)('%s is the public address %s', (host, address) => {
    expect(targetHost(urlOf(host))).toBe(inAuthority(address));
    expect(hasTargetHost(urlOf(host), policy())).toBe(true);
    expect(hasTargetHost(urlOf(host), policy({ DELIVERY_DENIED_NETWORKS: address }))).toBe(false);
  });

  it.each(NAMED_HOSTS)('%s counts as a name', (host) => {
    expect(isTargetUrl(urlOf(host))).toBe(true);
    const nothing = { DELIVERY_DENIED_NETWORKS: '0.0.0.0/0,::/0' };
    expect(hasTargetHost(urlOf(host), policy(nothing))).toBe(true);
  });

  it.each(MALFORMED_HOSTS)('%s is an invalid URL', (host) => {
    expect(isTargetUrl(urlOf(host))).toBe(false);
  });
});
