import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { ROOT } from '#tools/settings';
import { bundlePrograms } from '#tools/sources';
import { testDatabaseUrl, testRedisUrl } from '../../../../test/support/environment.js';
import { readConfig } from '../config/config.js';
import { connectRedis, type RedisConnection } from './redis.js';

type Scripted = Record<'probe', (...args: unknown[]) => Promise<unknown>>;

const lua = 'return { KEYS[1], ARGV[1] }';

let connection: RedisConnection & Scripted;

beforeEach(async () => {
  const config = readConfig({
    DATABASE_URL: testDatabaseUrl().toString(),
    REDIS_URL: testRedisUrl().toString(),
  });
  connection = connectRedis(config, 'commands') as typeof connection;
  await new Promise((resolve) => connection.once('ready', resolve));
  connection.defineCommand('probe', { lua, numberOfKeys: 1 });
});

afterEach(() => connection.disconnect());

it('runs a script with its arguments, given one by one or as an array', async () => {
  expect(await connection.probe('key', 'value')).toEqual(['key', 'value']);
  expect(await connection.probe(['key', Buffer.from('value')])).toEqual(['key', 'value']);
});

it('runs a script that Redis no longer knows', async () => {
  await connection.probe('key', 'value');
  await connection.script('FLUSH');
  expect(await connection.probe('key', 'value')).toEqual(['key', 'value']);
});

it('runs a script in a transaction', async () => {
  const transaction = connection.multi() as unknown as Scripted & {
    exec: () => Promise<unknown>;
  };
  void transaction.probe('key', 'value');
  expect(await transaction.exec()).toEqual([[null, ['key', 'value']]]);
});

it('passes on the error of a script', async () => {
  connection.defineCommand('probe', { lua: `return redis.error_reply('no')`, numberOfKeys: 1 });
  await expect(connection.probe('key')).rejects.toThrow('no');
});

it('leaves less in the old generation than the scripts of ioredis', async () => {
  const [script, dir] = ['test/support/promoted-memory.main', join(ROOT, 'dist/tests')];
  await bundlePrograms([script], dir);
  const { stdout } = await promisify(execFile)(process.execPath, [join(dir, `${script}.js`)], {
    env: { DATABASE_URL: 'postgres://unused', REDIS_URL: testRedisUrl().toString() },
  });
  const { byItself, asWeSendThem } = JSON.parse(stdout) as Record<string, number>;
  expect(asWeSendThem).toBeLessThan(0.5 * byItself!);
});
