import { beforeEach, expect, it, vi } from 'vitest';
import type { SecretBox } from '#libs/kernel';
import {
  type Config,
  type Database,
  type HostResources,
  type Log,
  type Processes,
  type PostgresHosts,
  UnusableDatabaseError,
  UnusableRedisError,
} from '#libs/runtime';
import { HealthController, Shutdown } from './health.module.js';

const postgres = vi.fn<() => Promise<void>>();
const redis = vi.fn<() => Promise<void>>();
const error = vi.fn<Log['error']>();

let hosts: Pick<PostgresHosts, 'conflict'>;
let host: Pick<HostResources, 'shortage'>;
let processes: Pick<Processes, 'hold'>;
let secrets: Pick<SecretBox, 'missingKey'>;
let health: HealthController;
beforeEach(() => {
  postgres.mockReset().mockResolvedValue();
  redis.mockReset().mockResolvedValue();
  error.mockReset();
  host = { shortage: undefined };
  processes = { hold: undefined };
  hosts = { conflict: undefined };
  secrets = { missingKey: undefined };
  health = new HealthController(
    { check: postgres } as unknown as Database,
    { check: redis },
    host as HostResources,
    processes as Processes,
    new Shutdown('api', {} as Config),
    { error } as unknown as Log,
    'api',
    hosts as PostgresHosts,
    secrets as SecretBox,
  );
});

it('probes the stores once for concurrent requests', async () => {
  redis.mockRejectedValue(new Error('away'));
  const asked = Array.from({ length: 100 }, () => health.ready());
  const body = { status: 'up', postgres: 'up', redis: 'down' };
  expect(await Promise.all(asked)).toMatchObject(Array(100).fill({ body }));
  expect([postgres.mock.calls.length, redis.mock.calls.length]).toEqual([1, 1]);
  await health.ready();
  expect([postgres.mock.calls.length, redis.mock.calls.length]).toEqual([2, 2]);
});

it('answers by the last probe when a hundred requests wait for one', async () => {
  const body = { status: 'up', postgres: 'up', redis: 'up' };
  await health.ready();
  let end: () => void = () => undefined;
  postgres.mockReturnValue(new Promise((resolve) => (end = resolve)));
  const asked = Array.from({ length: 100 }, () => health.ready());
  expect(await health.ready()).toMatchObject({ body });
  postgres.mockRejectedValue(new Error('away'));
  end();
  expect(await Promise.all(asked)).toMatchObject(Array(100).fill({ body }));
  expect(await health.ready()).toHaveProperty('body.status', 'down');
});

it('says why PostgreSQL cannot be used, and logs it once for as long as it lasts', async () => {
  const reason = 'the disk of PostgreSQL is full';
  for (let round = 0; round < 2; round += 1) {
    postgres.mockRejectedValue(new UnusableDatabaseError(reason));
    for (let asked = 0; asked < 3; asked += 1) {
      const body = { status: 'down', postgres: 'down', redis: 'up', reason };
      expect(await health.ready()).toMatchObject({ body, head: { status: 503 } });
    }
    expect(error.mock.calls.splice(0)).toEqual([[{ reason }, 'not ready']]);
    postgres.mockResolvedValue();
    const body = { status: 'up', postgres: 'up', redis: 'up' };
    expect(await health.ready()).toMatchObject({ body, head: { status: 200 } });
  }
});

it('says which key is missing, and is ready, because other secrets can be read', async () => {
  secrets.missingKey = 'k1';
  const reason = 'SECRETS_KEYS has no key "k1", which stored secrets need';
  expect(await health.ready()).toMatchObject({ body: { status: 'up', reason } });
});

it('says why Redis cannot be used, which it does not need to be ready', async () => {
  redis.mockRejectedValue(new UnusableRedisError('Redis is full'));
  const body = { status: 'up', postgres: 'up', redis: 'down', reason: 'Redis is full' };
  expect(await health.ready()).toMatchObject({ body, head: { status: 200 } });
  postgres.mockRejectedValue(new UnusableDatabaseError('the disk of PostgreSQL is full'));
  const both = 'the disk of PostgreSQL is full; Redis is full';
  expect(await health.ready()).toHaveProperty('body.reason', both);
});

it('shows no other error of PostgreSQL', async () => {
  postgres.mockRejectedValue(new Error('password authentication failed for "secret"'));
  expect(await health.ready()).toHaveProperty('body', {
    status: 'down',
    postgres: 'down',
    redis: 'up',
  });
});

it('names a lack of resources, which does not make the process unready', async () => {
  Object.assign(host, { shortage: 'EMFILE' });
  const body = { status: 'up', postgres: 'up', redis: 'up', shortage: 'EMFILE' };
  expect(await health.ready()).toMatchObject({ body, head: { status: 200 } });
});

it('names the cause of a hold, and is ready', async () => {
  processes.hold = { cause: 'proxy', since: new Date() };
  expect(await health.ready()).toMatchObject({ body: { status: 'up', hold: 'proxy' } });
});

it('names the hosts of PostgreSQL that take writes, if several do, and stays ready', async () => {
  hosts = Object.assign(hosts, { conflict: 'several hosts of PostgreSQL take writes: …' });
  const body = { status: 'up', postgres: 'up', redis: 'up', reason: hosts.conflict };
  expect(await health.ready()).toMatchObject({ head: { status: 200 }, body });
});
