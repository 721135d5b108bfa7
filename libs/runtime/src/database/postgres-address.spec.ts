import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { postgresAddressOf } from './postgres-address.js';

let dir: string;
/** The path of a file, by what it contains. */
const files = { ca: '', cert: '', key: '' };

beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'switchhook-certificates-'));
  for (const name of ['ca', 'cert', 'key'] as const) {
    files[name] = join(dir, name);
    writeFileSync(files[name], `the ${name}`);
  }
});
afterAll(() => rmSync(dir, { recursive: true }));

/** What the driver makes of the address: host and port of each server, and the login to the database. */
function driverOf(text: string) {
  const clients = postgresAddressOf(text).urls.map((url) => new pg.Client(url));
  const [{ user, password, database } = {}] = clients;
  return {
    hosts: clients.map(({ host, port }) => `${host} ${String(port)}`),
    login: `${String(user)}:${String(password)}/${String(database)}`,
  };
}

const withDefaults = (query: string): string => `postgres://u:p@h/d?${query}`;

describe('postgresAddressOf', () => {
  it.each([
    ['postgres://u:p@h:5433/d', ['h 5433']],
    ['postgresql://u:p@h/d', ['h 5432']],
    ['postgres://u:p@h1:5433,h2:5434/d', ['h1 5433', 'h2 5434']],
    ['postgres://u:p@h1,h2:5434,h3/d', ['h1 5432', 'h2 5434', 'h3 5432']],
    ['postgres://u:p@[fd00::1]:5433,[::1]/d', ['fd00::1 5433', '::1 5432']],
    ['postgres://u:p@%2Fvar%2Frun/d', ['/var/run 5432']],
    ['postgres://u:p@/d?host=/var/run', ['/var/run 5432']],
    ['postgres://u:p@/d?host=h1,h2&port=5433,5434', ['h1 5433', 'h2 5434']],
    ['postgres://u:p@/d?host=h1,h2&port=5433', ['h1 5433', 'h2 5433']],
    ['postgres://u:p@h/d?host=other', ['other 5432']],
    ['postgres:///d?user=u&password=p&host=h', ['h 5432']],
  ])('reads the hosts of %s', (text, hosts) => {
    expect(driverOf(text)).toEqual({ hosts, login: 'u:p/d' });
  });

  it('leaves a percent-encoded login and database to the driver', () => {
    const text = 'postgres://us%40er:p%2Fw%2C%40@h1,h2/my%20db';
    expect(driverOf(text).login).toBe('us@er:p/w,@/my db');
  });

  it('passes on the parameters that the driver knows', () => {
    const [url = ''] = postgresAddressOf(withDefaults('application_name=a%26b')).urls;
    expect(new URL(url.replace('@/', '@x/')).searchParams.get('application_name')).toBe('a&b');
  });

  it.each([
    ['postgres://h/d', 'any'],
    ['postgres://h1,h2/d', 'primary'],
    ['postgres://h/d?target_session_attrs=read-write', 'read-write'],
    ['postgres://h1,h2/d?target_session_attrs=any', 'any'],
  ])('uses of %s a server that is %s', (text, target) => {
    expect(postgresAddressOf(text).target).toBe(target);
  });

  it.each([
    'SECRET@SECRET',
    'SECRET:SECRET',
    'SECRET/SECRET',
    'SECRET?SECRET',
    'SECRET#SECRET',
    'SECRET%SECRET',
    '1/SECRET',
    '1?host=SECRET',
    '1#SECRET',
    'SECRET@SECRET/SECRET',
    'SECRET@1/SECRET',
    'SECRET@SECRET?user=SECRET',
    'SECRET,SECRET@SECRET',
    '[SECRET]',
  ])(
    'takes no part of the password %s for a host, though it is not percent-encoded',
    (password) => {
      for (const hosts of ['host:5432', 'h1,h2:5433']) {
        const text = `postgres://user:${password}@${hosts}/db`;
        expectRead(text, `${hosts}/db`, password);
      }
    },
  );

  it('takes no part of any password for a host', () => {
    const parts = fc.constantFrom(
      ...['SECRET', '1', '@', ':', '/', '?', '#', '%', '[', ']', ',', ' ', '=', '&', '\\'],
      ...['host=', 'user=SECRET', '%20'],
    );
    fc.assert(
      fc.property(fc.array(parts, { minLength: 1 }), (pieces) => {
        const password = pieces.join('');
        expectRead(`postgres://user:${password}@host/db`, 'host/db', password);
      }),
      { numRuns: 2_000 },
    );
  });

  /** Checks that an address is read with this password, or refused without repeating it. */
  function expectRead(text: string, name: string, password: string): void {
    try {
      expect(postgresAddressOf(text).name).toBe(name);
    } catch (error) {
      if ((error as Error).message.includes('must ')) {
        expect((error as Error).message).not.toContain('SECRET');
        return;
      }
      throw error;
    }
    if (!password.includes('%')) expect(driverOf(text).login).toBe(`user:${password}/db`);
  }

  it('names the hosts and the database for the log, but no login', () => {
    const { name } = postgresAddressOf('postgres://user:SECRET@h1:5433,[::1]/d?password=SECRET');
    expect(name).toBe('h1:5433,[::1]/d');
  });

  it('leaves TLS to the driver without sslmode', () => {
    expect(postgresAddressOf('postgres://h/d').ssl).toBeUndefined();
  });

  it('encrypts without a check of the certificate with sslmode=require', () => {
    expect(postgresAddressOf(withDefaults('sslmode=require')).ssl).toEqual({
      rejectUnauthorized: false,
    });
    expect(postgresAddressOf(withDefaults('sslmode=disable')).ssl).toBe(false);
  });

  it('checks the whole certificate with sslmode=verify-full', () => {
    const query = `sslmode=verify-full&sslrootcert=${files.ca}&sslcert=${files.cert}&sslkey=${files.key}`;
    const ssl = { ca: 'the ca', cert: 'the cert', key: 'the key' };
    expect(postgresAddressOf(withDefaults(query)).ssl).toEqual(ssl);
    expect(postgresAddressOf(withDefaults('sslmode=verify-full')).ssl).toEqual({});
  });

  it.each(['verify-ca', 'require'])(
    'checks the authority but not the name with sslmode=%s and sslrootcert',
    (mode) => {
      const { ssl } = postgresAddressOf(withDefaults(`sslmode=${mode}&sslrootcert=${files.ca}`));
      const checkServerIdentity = expect.any(Function) as unknown;
      expect(ssl).toEqual({ ca: 'the ca', checkServerIdentity });
    },
  );

  it.each([
    ['SECRET', /^must be postgres:/],
    ['mysql://SECRET/d', /^must be postgres:/],
    ['postgres://h1:5432:SECRET/d', /hosts such as/],
    ['postgres://h:65536/d', /ports/],
    ['postgres://h1,h2/d?port=1,2,3', /one port, or one for each host/],
    ['postgres://h/d?port=SECRET', /ports/],
    ['postgres://u:%SECRET@h/d', /percent-encoded/],
    ['postgres://h/d?SECRET=1', /no parameters except/],
    ['postgres://h/d?connect_timeout=10', /no parameters except/],
    ['postgres://h/d?target_session_attrs=standby', /^target_session_attrs must be/],
    ['postgres://h/d?sslmode=SECRET', /^sslmode must be/],
    ['postgres://h/d?sslmode=prefer', /^sslmode must be/],
    ['postgres://h/d?sslmode=verify-ca', /needs sslrootcert/],
    ['postgres://h/d?sslrootcert=/SECRET', /^sslrootcert cannot be read/],
    ['postgres://h/d?sslmode=verify-full&sslkey=/SECRET', /^sslkey cannot be read/],
    ['postgres://h/d?sslmode=verify-full&sslkey=/dev/zero', /^sslkey is not a regular file/],
  ])('refuses %s without repeating its parts', (text, message) => {
    expect(() => postgresAddressOf(text)).toThrow(message);
    expect(() => postgresAddressOf(text)).not.toThrow('SECRET');
  });

  it('refuses certificates without sslmode, which would not be used', () => {
    expect(() => postgresAddressOf(withDefaults(`sslrootcert=${files.ca}`))).toThrow(
      'must have sslmode',
    );
  });
});
