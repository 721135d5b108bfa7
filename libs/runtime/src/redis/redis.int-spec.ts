import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { Redis } from 'ioredis';
import { afterEach, beforeEach, expect, it } from 'vitest';
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
  const own = new Redis(testRedisUrl().toString());
  own.defineCommand('probe', { lua, numberOfKeys: 1 });
  const ofOwn = await leastPromotedMb(own as unknown as Scripted);
  own.disconnect();
  const promoted = await leastPromotedMb(connection);
  expect(promoted).toBeLessThan(0.8 * ofOwn);
});

/** Of three times. More is promoted on a busy machine, and in a process that other tests have used. */
async function leastPromotedMb(scripted: Scripted): Promise<number> {
  let least = Infinity;
  for (let time = 0; time < 3; time += 1) least = Math.min(least, await promotedMb(scripted));
  return least;
}

/** By how much the old generation grows with some thousand calls, in MB, not counting when it shrinks. */
async function promotedMb(scripted: Scripted): Promise<number> {
  const args = Array.from({ length: 50 }, (_, number) => `argument ${String(number)}`);
  // What the process allocated before is not promoted meanwhile.
  collectGarbage();
  let [promoted, last] = [0, oldGenerationMb()];
  for (let call = 0; call < 4_000; call += 1) {
    await scripted.probe('key', String(call), ...args);
    const now = oldGenerationMb();
    promoted += Math.max(0, now - last);
    last = now;
  }
  return promoted;
}

function collectGarbage(): void {
  setFlagsFromString('--expose-gc');
  (runInNewContext('gc') as () => void)();
}

function oldGenerationMb(): number {
  const spaces = getHeapSpaceStatistics();
  return spaces.find((space) => space.space_name === 'old_space')!.space_used_size / 2 ** 20;
}
