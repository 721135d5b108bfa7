import { chownSync, statSync, writeFileSync } from 'node:fs';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { eventually } from '#tools/eventually';
import { freePort } from '#tools/net';
import { certificate } from '../../../../test/support/certificate.js';
import { programs } from '../../../../test/support/processes.js';
import { startSlowListener } from '../../../../test/support/slow-listener.js';
import { Postgres } from '../../../../test/support/stores.js';
import { UnusableDatabaseError } from './needed-settings.js';
import { postgresAddressOf } from './postgres-address.js';
import { clientFor } from './postgres-client.js';
import { CONNECT_TIMEOUT_MS, PostgresHosts } from './postgres-hosts.js';

let dir: string;
let primary: Postgres;
let standby: Postgres;
/** Where nothing listens. */
let nowhere: string;

const hostOf = ({ url }: Postgres): string => url.host;

/** The primary's address with other hosts. */
function addressOf(hosts: readonly string[], parameters: Record<string, string> = {}): string {
  const { username, password, pathname } = primary.url;
  const query = new URLSearchParams(parameters).toString();
  return `postgres://${username}:${password}@${hosts.join()}${pathname}?${query}`;
}

const clientOf = (address: string): new () => pg.Client => clientFor(postgresAddressOf(address));

/** Connects once. @returns the host that it found */
async function found(Client: new () => pg.Client): Promise<string> {
  const client = new Client();
  await client.connect();
  const [row] = (await client.query<{ port: number }>('SELECT inet_server_port() AS port')).rows;
  await client.end();
  return `127.0.0.1:${String(row?.port)}`;
}

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'switchhook-hosts-'));
  await mkdir(join(dir, 'primary'));
  primary = new Postgres(join(dir, 'primary'), programs);
  await primary.start();
  standby = await primary.replicate(join(dir, 'standby'));
  nowhere = `127.0.0.1:${String(await freePort())}`;
});
afterAll(async () => {
  for (const one of [primary, standby]) if (one.isRunning) await one.kill();
  await rm(dir, { recursive: true, force: true });
});

describe('connecting to several hosts', () => {
  afterEach(() => vi.unstubAllEnvs());

  it('takes the first that is neither down nor a standby', async () => {
    const hosts = [nowhere, hostOf(standby), hostOf(primary)];
    expect(await found(clientOf(addressOf(hosts)))).toBe(hostOf(primary));
  });

  it('takes a standby for target_session_attrs=any', async () => {
    const any = { target_session_attrs: 'any' };
    const hosts = [nowhere, hostOf(standby), hostOf(primary)];
    expect(await found(clientOf(addressOf(hosts, any)))).toBe(hostOf(standby));
  });

  it('refuses a single host that is read-only for target_session_attrs=read-write', async () => {
    const readOnly = { options: '-c default_transaction_read_only=on' };
    const one = [hostOf(primary)];
    expect(await found(clientOf(addressOf(one, readOnly)))).toBe(hostOf(primary));
    const readWrite = { ...readOnly, target_session_attrs: 'read-write' };
    await expect(found(clientOf(addressOf(one, readWrite)))).rejects.toThrow(
      new UnusableDatabaseError('PostgreSQL takes no writes'),
    );
  });

  it('says why each host was passed over', async () => {
    const connecting = found(clientOf(addressOf([nowhere, hostOf(standby)])));
    await expect(connecting).rejects.toThrow(UnusableDatabaseError);
    await expect(connecting).rejects.toMatchObject({
      message: 'no host of PostgreSQL takes writes',
      cause: { message: `connect ECONNREFUSED ${nowhere}; PostgreSQL takes no writes` },
    });
  });

  it('takes the login that the address lacks from PGUSER and PGPASSWORD', async () => {
    const password = `p@s:/s%40 "'\\\\#?&ü$`;
    await primary.query(`CREATE ROLE apart LOGIN PASSWORD ${pg.escapeLiteral(password)}`);
    vi.stubEnv('PGUSER', 'apart').stubEnv('PGPASSWORD', password);
    const { host, pathname } = primary.url;
    for (const login of ['', 'apart@']) {
      const client = new (clientOf(`postgres://${login}${host}${pathname}`))();
      await client.connect();
      expect((await client.query('SELECT current_user AS me')).rows).toEqual([{ me: 'apart' }]);
      await client.end();
    }
    expect(await found(clientOf(addressOf([host])))).toBe(host);
  });

  it('tries no other host after a wrong password', async () => {
    const address = addressOf([hostOf(primary), nowhere]).replace(/:[^:@]+@/, ':wrong@');
    await expect(found(clientOf(address))).rejects.toMatchObject({ code: '28P01' });
  });

  it('tries no other host if there are too many connections', async () => {
    await primary.query(`CREATE ROLE crowded LOGIN PASSWORD 'pw' CONNECTION LIMIT 0`);
    const address = addressOf([hostOf(primary), nowhere]).replace(/\/\/.*@/, '//crowded:pw@');
    await expect(found(clientOf(address))).rejects.toMatchObject({ code: '53300' });
  });

  it('gives a host that does not answer its share of the time, and starts with the next from then on', async () => {
    const slow = await startSlowListener('127.0.0.1');
    const Client = clientOf(addressOf([`127.0.0.1:${String(slow.port)}`, hostOf(primary)]));
    const timed = async () => {
      const start = performance.now();
      expect(await found(Client)).toBe(hostOf(primary));
      return performance.now() - start;
    };
    const [first, second] = [await timed(), await timed()];
    await slow.close();
    // A timer may be a millisecond early.
    expect(first).toBeGreaterThanOrEqual(CONNECT_TIMEOUT_MS / 2 - 1);
    expect(first).toBeLessThan(CONNECT_TIMEOUT_MS);
    expect(second).toBeLessThan(CONNECT_TIMEOUT_MS / 2);
  });

  it('closes the connections to hosts that it passes over', async () => {
    await found(clientOf(addressOf([hostOf(standby), hostOf(primary)])));
    const others = () =>
      standby.query(`SELECT FROM pg_stat_activity
        WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()`);
    await eventually(others, (rows) => rows.length === 0);
  });
});

describe('sslmode', () => {
  let rootCertificate: string;
  beforeAll(async () => {
    rootCertificate = join(dir, 'root.crt');
    writeFileSync(rootCertificate, certificate.cert);
    const { uid, gid } = statSync(primary.data);
    for (const [name, text] of [
      ['server.crt', certificate.cert],
      ['server.key', certificate.key],
    ] as const) {
      const file = join(primary.data, name);
      writeFileSync(file, text, { mode: 0o600 });
      chownSync(file, uid, gid);
    }
    await primary.query('ALTER SYSTEM SET ssl = on');
    await primary.query('SELECT pg_reload_conf()');
    await eventually(
      () => primary.query<{ ssl: string }>('SHOW ssl'),
      ([row]) => row?.ssl === 'on',
    );
  });

  /** Whether a connection is encrypted, or why there is none. */
  async function outcomeOf(host: string, parameters: Record<string, string>): Promise<unknown> {
    const address = addressOf([`${host}:${primary.url.port}`], parameters);
    const client = new (clientOf(address))();
    try {
      await client.connect();
      const text = 'SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()';
      return (await client.query<{ ssl: boolean }>(text)).rows[0]?.ssl;
    } catch (error) {
      return (error as { code?: string }).code;
    } finally {
      await client.end();
    }
  }

  const withRoot = (sslmode: string) => ({ sslmode, sslrootcert: rootCertificate });

  it.each(['localhost', '127.0.0.1'])('require encrypts without a check at %s', async (host) => {
    expect(await outcomeOf(host, { sslmode: 'require' })).toBe(true);
  });

  it('disable does not encrypt', async () => {
    expect(await outcomeOf('localhost', { sslmode: 'disable' })).toBe(false);
  });

  it('verify-full checks the authority and the name', async () => {
    expect(await outcomeOf('localhost', withRoot('verify-full'))).toBe(true);
    expect(await outcomeOf('localhost', { sslmode: 'verify-full' })).toBe(
      'DEPTH_ZERO_SELF_SIGNED_CERT',
    );
    expect(await outcomeOf('127.0.0.1', withRoot('verify-full'))).toBe(
      'ERR_TLS_CERT_ALTNAME_INVALID',
    );
  });

  it('verify-ca checks the authority, but not the name', async () => {
    expect(await outcomeOf('127.0.0.1', withRoot('verify-ca'))).toBe(true);
  });
});

describe('a pool', () => {
  it('finds the promoted standby when the primary is lost', async () => {
    const Client = clientFor(postgresAddressOf(addressOf([hostOf(primary), hostOf(standby)])));
    const pool = new pg.Pool({ Client, max: 2, connectionTimeoutMillis: CONNECT_TIMEOUT_MS });
    pool.on('error', () => undefined);
    const write = () => pool.query('CREATE TABLE IF NOT EXISTS written ()').then(() => true);
    expect(await write()).toBe(true);
    await primary.kill();
    await expect(write()).rejects.toThrow();
    await standby.query('SELECT pg_promote()');
    await eventually(() => write().catch(() => false), Boolean);
    await pool.end();
  });
});

/** The primary was killed, and its standby promoted. */
describe('several hosts that take writes', () => {
  let third: Postgres;
  beforeAll(async () => {
    await primary.start();
    third = await standby.replicate(join(dir, 'third'));
  });
  afterAll(() => (third.isRunning ? third.kill() : undefined));

  it('a connection leads to the promoted one, although an old primary was started again', async () => {
    for (const hosts of [
      [hostOf(primary), hostOf(standby)],
      [hostOf(standby), hostOf(primary)],
    ]) {
      expect(await found(clientOf(addressOf(hosts)))).toBe(hostOf(standby));
    }
  });

  it('are named, and the servers are counted, not the addresses that lead to them', async () => {
    const { host, port } = standby.url;
    const address = postgresAddressOf(
      addressOf([hostOf(primary), host, `localhost:${port}`, hostOf(third), nowhere]),
    );
    const hosts = new PostgresHosts(address);
    await hosts.ask();
    expect(hosts.primaries).toBe(2);
    expect(hosts.conflict).toMatch(`${hostOf(primary)} at timeline 1`);
    expect(hosts.conflict).toMatch(/:\d+ at timeline 2; only \S+ is used$/);
  });

  it('a connection to one is closed when another is promoted, and the old one is not used again', async () => {
    const address = postgresAddressOf(addressOf([hostOf(standby), hostOf(third)]));
    const hosts = new PostgresHosts(address);
    const Client = clientFor(address, hosts);
    const pool = new pg.Pool({ Client, max: 2, connectionTimeoutMillis: CONNECT_TIMEOUT_MS });
    pool.on('error', () => undefined);
    const port = async () => {
      const { rows } = await pool.query<{ port: number }>('SELECT inet_server_port() AS port');
      return String(rows[0]?.port);
    };
    expect(await port()).toBe(standby.url.port);
    const sleeping = expect(pool.query('SELECT pg_sleep(60)')).rejects.toThrow(
      `Connection terminated: ${hostOf(standby)} has timeline 2`,
    );
    await hosts.ask();
    expect([hosts.primaries, hosts.conflict]).toEqual([1, undefined]);
    await third.query('SELECT pg_promote()');
    await hosts.ask();
    await sleeping;
    expect(await port()).toBe(third.url.port);
    await third.kill();
    const refused = `${hostOf(standby)} has timeline 2 of PostgreSQL, but another host has timeline 3`;
    await eventually(
      () => port().catch((error: unknown) => (error as Error).message),
      (outcome) => outcome === refused,
    );
    await pool.end();
  });
});
