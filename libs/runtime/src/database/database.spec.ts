import type { DataSource } from 'typeorm';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Config } from '../config/config.js';
import type { Log } from '../logging/log.js';
import { Metrics } from '../telemetry/metrics.js';
import { Database } from './database.js';
import type { CurrentSettings } from './needed-settings.js';
import { prepared, statement } from './statement.js';

const WRITE = statement('INSERT');
const READ = prepared('read', 'SELECT');
const FIT: CurrentSettings = {
  ...{
    isStandby: false,
    role: 'api',
    hasLanguage: true,
    schema: 'public',
    isOnPath: true,
    next: null,
  },
  now: {
    DateStyle: 'ISO, DMY',
    array_nulls: 'on',
    extra_float_digits: '0',
    default_transaction_isolation: 'read uncommitted',
    synchronous_commit: 'local',
    session_replication_role: 'local',
    default_transaction_read_only: 'off',
    search_path: '"$user", public',
    server_encoding: 'UTF8',
    server_version: '15.0',
    server_version_num: '150000',
  },
};

let settings: CurrentSettings;
let failure: object | undefined;
let answer: object | undefined;
let lines: string[];
/** How many writes were tried. */
let written: number;
let database: Database;
let databaseOfTwo: Database;
let synchronous: Database;
beforeEach(() => {
  vi.useFakeTimers({ toFake: ['performance', 'setTimeout'] });
  [settings, failure, answer, written] = [FIT, undefined, undefined, 0];
  const query = ({ name }: { name?: string }) => {
    if (name === undefined) written += 1;
    const thrown = name === undefined ? failure : answer;
    if (thrown) return Promise.reject(Object.assign(new Error('driver'), thrown));
    return Promise.resolve({ rows: [settings] });
  };
  const source = { driver: { master: { query } } } as unknown as DataSource;
  lines = [];
  const say = (_fields: object, line: string) => lines.push(line);
  const log = { warn: say, info: say } as unknown as Log;
  const config = { DATABASE_PREPARED_STATEMENTS: true } as Config;
  const make = (own: Partial<Config> = {}) =>
    new Database(source, new Metrics(), log, { ...config, ...own });
  [database, databaseOfTwo] = [make(), make({ DATABASE_SCHEMA: 'two' })];
  synchronous = make({ DATABASE_SYNCHRONOUS: true });
});
afterEach(() => {
  vi.useRealTimers();
});

const write = () => database.run(WRITE).catch(() => undefined);

/** A check that may wait before it tries a write again. */
async function checked(): Promise<void> {
  const check = database.check();
  await Promise.all([check, vi.advanceTimersByTimeAsync(1_000)]);
}

describe('whether PostgreSQL can be used', () => {
  it.each([
    ['now', { now: { ...FIT.now, DateStyle: 'SQL, DMY' } }, 'DateStyle'],
    ['for new connections', { next: { datestyle: 'german' } }, 'DateStyle'],
    ['as administrators may write it', { next: { array_nulls: 'False' } }, 'array_nulls'],
    ['that is quoted', { next: { extra_float_digits: "'-3'" } }, 'extra_float_digits'],
    ['that is read-only', { next: { default_transaction_read_only: 'yes' } }, 'read_only is on'],
    ['of the encoding', { now: { ...FIT.now, server_encoding: 'LATIN1' } }, 'is LATIN1, and has'],
    [
      'of the version',
      { now: { ...FIT.now, server_version: '14.9', server_version_num: '140009' } },
      'has the version 14.9, and has to have 15',
    ],
    ['that hides our tables', { isOnPath: false }, '"$user", public", and has to have the schema'],
    ['that will hide our tables', { next: { search_path: 'a, "b"' } }, 'search_path'],
  ])('is denied with a setting %s, which is named', async (_what, change, named) => {
    settings = { ...FIT, ...change };
    await expect(database.check()).rejects.toThrow(named);
  });

  it('is denied without the language of our functions', async () => {
    settings = { ...FIT, hasLanguage: false };
    await expect(database.check()).rejects.toThrow('the database lacks the language plpgsql');
  });

  it.each([
    ['other fit values', {}],
    ['none of our tables yet', { schema: null, isOnPath: false }],
    ['a search path for the role', { role: 'public', next: { search_path: '"$user", other' } }],
    ['what an administrator has set again', { next: { datestyle: 'iso', array_nulls: '1' } }],
  ])('is granted with %s', async (_what, change) => {
    settings = { ...FIT, ...change };
    await database.check();
  });

  const withPath = (search_path: string) => ({ now: { ...FIT.now, search_path } });

  it.each([
    ['of another schema', {}],
    ['of another schema, without any tables', { schema: null, isOnPath: false }],
    ['that finds other tables first', withPath('public, two')],
    ['that will lead elsewhere', { schema: 'two', ...withPath('two'), next: { search_path: 'a' } }],
  ])('is denied with a search path %s', async (_what, change) => {
    settings = { ...FIT, ...change };
    await expect(databaseOfTwo.check()).rejects.toThrow('has to have the schema "two"');
  });

  it.each([
    ['its tables', { schema: 'two' }],
    ['none of its tables yet', { schema: null, isOnPath: false }],
    ['only tables of another schema, which it does not find', { isOnPath: false }],
  ])('is granted with the search path of its schema and %s', async (_what, change) => {
    settings = { ...FIT, ...withPath('two'), ...change };
    await databaseOfTwo.check();
  });

  it.each([
    ['53100', 'the disk of PostgreSQL is full'],
    ['53200', 'PostgreSQL is out of memory'],
    ['25006', 'PostgreSQL takes no writes'],
  ])(
    'is denied after the error %s until a write succeeds, although it answers reads',
    async (code, why) => {
      failure = { code };
      await write();
      for (let minute = 0; minute < 3; minute += 1) {
        await database.run(READ);
        await expect(checked()).rejects.toThrow(why);
        await vi.advanceTimersByTimeAsync(60_000);
      }
      expect(lines).toEqual(['PostgreSQL is away']);
      failure = undefined;
      await checked();
      await vi.advanceTimersByTimeAsync(5_000);
      await database.run(READ);
      expect(lines).toEqual(['PostgreSQL is away', 'PostgreSQL is back']);
    },
  );

  it.each([
    ['lost', { code: 'ECONNRESET' }],
    ['silent', { message: 'PostgreSQL was silent for 15000 ms' }],
  ])('is denied after it was %s until a write succeeds', async (_how, error) => {
    failure = error;
    await write();
    await expect(database.check()).rejects.toMatchObject(error);
    failure = undefined;
    await checked();
  });

  it('tries a write at most once a second, however many ask', async () => {
    failure = { code: '53100' };
    await write();
    await expect(database.check()).rejects.toThrow('full');
    written = 0;
    const asked = Array.from({ length: 5 }, () => [database.check(), database.run(READ)]).flat();
    const answers = Promise.allSettled(asked);
    await vi.advanceTimersByTimeAsync(999);
    expect(written).toBe(0);
    await vi.advanceTimersByTimeAsync(1);
    await answers;
    expect(written).toBe(1);
  });

  it('is denied if there are too many connections for the check, but not for another statement', async () => {
    failure = { code: '53300' };
    await write();
    failure = undefined;
    await database.check();
    answer = { code: '53300' };
    await expect(database.check()).rejects.toThrow('PostgreSQL has too many connections');
  });

  it.each([
    ['', 'on', 'its setting synchronous_standby_names is empty'],
    ['*', 'local', 'its setting synchronous_commit is "local"'],
  ])(
    'is denied with DATABASE_SYNCHRONOUS if it waits for the standbys %j with the commit %j',
    async (synchronous_standby_names, synchronous_commit, why) => {
      settings = { ...FIT, now: { ...FIT.now, synchronous_standby_names, synchronous_commit } };
      await database.check();
      await expect(synchronous.check()).rejects.toThrow(why);
    },
  );

  it('is not known after any other error, which is passed on', async () => {
    answer = { code: 'ECONNREFUSED' };
    await expect(database.check()).rejects.toMatchObject(answer);
  });
});
