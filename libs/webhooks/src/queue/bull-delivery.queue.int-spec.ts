import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import Bull from 'bull';
import { Redis } from 'ioredis';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { connectRedis, type Database, type Log, Metrics, readConfig } from '#libs/runtime';
import { eventually } from '#tools/eventually';
import { testRedisUrl } from '../../../../test/support/environment.js';
import type { QueuedDelivery } from './domain/delivery-queue.js';
import { BullDeliveryQueue } from './bull-delivery.queue.js';
import { queueName, queueOptions } from './delivery-queues.js';
import { QueueAvailability } from './infrastructure/queue-availability.js';

const USER = 'switchhook-queue';
/** The rights that docs/operating/stores.md gives a user of Redis. */
const RIGHTS = ['~{switchhook:*', '~switchhook:*', '+@all', '-@admin', '-@dangerous', '+info'];

let admin: Redis;
let client: ReturnType<typeof connectRedis>;
let availability: QueueAvailability;
let queue: BullDeliveryQueue;
const released = vi.fn<(statement: object, values: { ids: string[] }) => Promise<[]>>();
const warn = vi.fn<Log['warn']>();

beforeEach(async () => {
  admin = new Redis(testRedisUrl().toString());
  await admin.flushdb();
  await allow('reset', 'on', '>password', ...RIGHTS);
  const address = Object.assign(testRedisUrl(), { username: USER, password: 'password' });
  const config = readConfig({
    DATABASE_URL: 'postgres://unused',
    REDIS_URL: address.toString(),
  });
  client = connectRedis(config, 'commands');
  const bull = new Bull(
    queueName(0),
    queueOptions(0, () => client),
  );
  const log = { warn, info: () => undefined } as unknown as Log;
  availability = new QueueAvailability([bull], new Metrics(), log);
  const database = { run: released.mockReset().mockResolvedValue([]) } as unknown as Database;
  queue = new BullDeliveryQueue([bull], availability, database, config);
  warn.mockReset();
  await eventually(() => availability.isUp);
  await availability.check();
});
afterEach(async () => {
  client.disconnect();
  await admin.call('ACL', 'DELUSER', USER);
  admin.disconnect();
});

async function allow(...rules: string[]): Promise<void> {
  await admin.call('ACL', 'SETUSER', USER, ...rules);
}

const deliveries = (count: number): QueuedDelivery[] =>
  Array.from({ length: count }, () => ({ id: randomUUID(), lease: 1, webhookId: '7' }));

const waiting = () => admin.llen(`{switchhook:0}:${queueName(0)}:wait`);

it('leaves nothing of a probe in Redis', async () => {
  await availability.check();
  await eventually(
    () => admin.keys('*'),
    ({ length }) => length === 0,
  );
});

it('adds jobs as a user of Redis with the rights that the documentation names', async () => {
  const page = new URL('../../../../docs/operating/stores.md', import.meta.url);
  expect(readFileSync(page, 'utf8')).toContain(` ${RIGHTS.join(' ')}\n`);
  await queue.add(deliveries(25));
  await availability.check();
  expect(await waiting()).toBe(3);
  expect([queue.hasRoom(), released.mock.calls, warn.mock.calls]).toEqual([true, [], []]);
});

it('ends the leases of deliveries whose jobs are refused, and gets no more until a probe succeeds', async () => {
  await allow('-evalsha');
  const refused = deliveries(25);
  await queue.add(refused);
  expect(queue.hasRoom()).toBe(false);
  const ids = released.mock.calls.flatMap(([, values]) => values.ids);
  expect(ids.sort()).toEqual(refused.map(({ id }) => id).sort());
  expect(warn).toHaveBeenCalledOnce();
  await allow('+evalsha');
  await eventually(() => queue.hasRoom());
  await queue.add(deliveries(1));
  expect(await waiting()).toBe(1);
});

it('ends no lease of deliveries whose jobs may be on the queue nevertheless', async () => {
  await allow('-lpush');
  await queue.add(deliveries(1));
  expect([queue.hasRoom(), released.mock.calls]).toEqual([false, []]);
});

it('ends the leases of deliveries that arrive when the connection is already lost', async () => {
  client.disconnect();
  await eventually(() => !availability.isUp);
  await queue.add(deliveries(1));
  expect(released).toHaveBeenCalledOnce();
  expect(await waiting()).toBe(0);
});
