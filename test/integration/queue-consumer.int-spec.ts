import { setTimeout as sleep } from 'node:timers/promises';
import Bull, { type Queue } from 'bull';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { connectRedis, readConfig } from '#libs/runtime';
import {
  letGo,
  prepareToConsume,
  stopAsking,
} from '../../libs/webhooks/src/deliveries/infrastructure/bull-internals.js';
import { testDatabaseUrl, testRedisUrl } from '../support/environment.js';
import { proxyTo, type TcpProxy } from '../support/tcp-proxy.js';

let redis: TcpProxy;
let queue: Queue;
const made: string[] = [];

beforeEach(async () => {
  redis = await proxyTo(testRedisUrl().toString());
  const config = readConfig({
    DATABASE_URL: testDatabaseUrl().toString(),
    REDIS_URL: redis.address,
  });
  queue = new Bull('consumer', {
    createClient: (type) => {
      made.push(type);
      const client = connectRedis(config, type === 'client' ? 'commands' : 'blocking');
      client.on('error', () => undefined);
      return client;
    },
  });
});
afterEach(() => redis.close());

it('stops without an error when Redis stops responding during the start', async () => {
  await prepareToConsume(queue);
  redis.freezeAll();
  void queue.process('job', 1, () => Promise.resolve()).catch(() => undefined);
  await sleep(100);
  void stopAsking(queue, 1);
  letGo(queue);
  await sleep(100);
  // An unhandled rejection fails the run.
  expect(made).not.toContain('subscriber');
});
