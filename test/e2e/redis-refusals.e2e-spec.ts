import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { eventually } from '#tools/eventually';
import { freePort } from '#tools/net';
import { createUser } from '../support/accounts.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { type Client, clientOf, send } from '../support/http.js';
import { launch, programs } from '../support/processes.js';
import { type Receiver, startReceiver } from '../support/receiver.js';
import { RedisServers } from '../support/redis-servers.js';
import type { ServiceProcess } from '../support/service-process.js';
import { aSubscription } from '../support/rows.js';

/** The queue's keys are on the node of this one. */
const QUEUE = '{switchhook:0}';
/**
 * A delivery that waits for the end of its lease arrives after 30 s. At first, a worker that has just started looks for
 * deliveries only every few seconds.
 */
const SOON = { firstMs: 10_000, laterMs: 3_000 };

interface Refusing {
  /** The address of a Redis that refuses, or does when `begin` is called. */
  url: string;
  begin?: () => Promise<unknown>;
  /** Ends the refusal; undefined if only an administrator can. */
  end?: () => Promise<unknown>;
}

let database: TestDatabase;
let servers: RedisServers;
let receiver: Receiver;
let accountId: string;
let auth: string;
let processes: ServiceProcess[] = [];
let metricsPorts: number[] = [];
let platform: Client;
let batches = 0;

beforeAll(async () => {
  database = await createTestDatabase();
  receiver = await startReceiver();
  ({ id: accountId } = await createUser(database, 'customer'));
  ({ auth } = await createUser(database, 'platform', 'platform'));
  await aSubscription(database, accountId, { event: 'smsdlr', target_url: receiver.url });
});
afterAll(async () => {
  await receiver.close();
  await database.drop();
});
beforeEach(async () => {
  const dir = await mkdtemp(join(tmpdir(), 'switchhook-refusing-'));
  servers = new RedisServers(dir, programs, 1_000);
});
afterEach(async () => {
  await Promise.all(processes.map((running) => running.stop()));
  processes = [];
  await servers.end();
});

/** Starts an API and a worker. The worker may not become ready. */
async function startOn(redisUrl: string): Promise<void> {
  metricsPorts = [await freePort(), await freePort()];
  const environment = (index: number) => ({
    DATABASE_URL: database.url,
    REDIS_URL: redisUrl,
    DELIVERY_ALLOWED_NETWORKS: '127.0.0.0/8',
    METRICS_PORT: String(metricsPorts[index]),
  });
  processes = await Promise.all([launch('api', environment(0)), launch('worker', environment(1))]);
  for (const process of processes) {
    await eventually(() =>
      ready(process).then(
        ({ redis }) => redis !== undefined,
        () => false,
      ),
    );
  }
  platform = clientOf(processes[0]!.url, auth);
}

interface Ready {
  code: number;
  redis?: string;
}

async function ready({ url }: ServiceProcess): Promise<Ready> {
  const answer = await send('GET', `${url}/health/ready`);
  return { code: answer.status, ...answer.json<object>() };
}

/** Reports more events than fit into a job, and waits until all have arrived. */
async function reportAndAwait(withinMs: number): Promise<void> {
  const batch = `batch ${String((batches += 1))}`;
  const event = { event: 'smsdlr', resource: 'sms', accountId, data: { batch } };
  const events = Array<typeof event>(12).fill(event);
  expect((await platform.post('/v1/events/batch', { events })).status).toBe(202);
  await receiver.until(
    (received) => received.filter(({ body }) => body.includes(`"${batch}"`)).length === 12,
    withinMs,
  );
}

const said = (process: ServiceProcess) =>
  process.log().filter(({ msg }) => /^Redis is /.test(String(msg)));

async function errorsOf(index: number): Promise<number> {
  const { text } = await send('GET', `http://127.0.0.1:${String(metricsPorts[index])}/metrics`);
  return Number(/^switchhook_redis_errors_total (\d+)$/m.exec(text)?.[1]);
}

async function fullServer(): Promise<Refusing> {
  const port = await servers.startServer();
  const limit = (bytes: string) => servers.ask(port, 'CONFIG', 'SET', 'maxmemory', bytes);
  return {
    url: `redis://127.0.0.1:${String(port)}`,
    begin: () => limit('1'),
    end: () => limit('0'),
  };
}

async function serverWithoutScripts(): Promise<Refusing> {
  const port = await servers.startServer();
  const scripts = (sign: string) =>
    servers.ask(port, 'ACL', 'SETUSER', 'default', `${sign}eval`, `${sign}evalsha`);
  return {
    url: `redis://127.0.0.1:${String(port)}`,
    begin: () => scripts('-'),
    end: () => scripts('+'),
  };
}

async function serverWithRenamedCommands(): Promise<Refusing> {
  const renamed = ['EVAL', 'EVALSHA'].flatMap((name) => ['--rename-command', name, '']);
  return { url: `redis://127.0.0.1:${String(await servers.startServer(renamed))}` };
}

async function clusterWithoutSlots(): Promise<Refusing> {
  const port = await servers.startLoneNode();
  return {
    url: `redis://127.0.0.1:${String(port)}`,
    end: () => servers.ask(port, 'CLUSTER', 'ADDSLOTSRANGE', '0', '16383'),
  };
}

async function ownerOfQueue(ports: number[]): Promise<{ slot: string; owner: number }> {
  const slot = String(await servers.ask(ports[0]!, 'CLUSTER', 'KEYSLOT', QUEUE));
  const ranges = (await servers.ask(ports[0]!, 'CLUSTER', 'SLOTS')) as [
    number,
    number,
    [string, number],
  ][];
  const range = ranges.find(([first, last]) => first <= Number(slot) && Number(slot) <= last);
  return { slot, owner: range![2][1] };
}

async function otherNodeOfCluster(): Promise<Refusing> {
  const ports = await servers.startCluster(0);
  const { owner } = await ownerOfQueue(ports);
  return { url: `redis://127.0.0.1:${String(ports.find((port) => port !== owner))}` };
}

async function clusterWithUncoveredSlot(): Promise<Refusing> {
  const ports = await servers.startCluster(0);
  const { slot, owner } = await ownerOfQueue(ports);
  const onAll = async (...command: [string, ...string[]]): Promise<void> => {
    for (const port of ports) await servers.ask(port, ...command);
  };
  await onAll('CONFIG', 'SET', 'cluster-require-full-coverage', 'no');
  return {
    url: `redis+cluster://127.0.0.1:${String(ports[0])}`,
    begin: () => onAll('CLUSTER', 'DELSLOTS', slot),
    end: () => servers.ask(owner, 'CLUSTER', 'ADDSLOTS', slot),
  };
}

describe.each<
  [what: string, start: () => Promise<Refusing>, reason: string, error: string | RegExp]
>([
  ['that is full', fullServer, 'Redis is full', 'OOM'],
  ['that forbids scripts', serverWithoutScripts, 'Redis refuses the command evalsha', 'NOPERM'],
  ['without scripts', serverWithRenamedCommands, 'Redis refuses the command evalsha', 'unknown'],
  ['whose cluster covers no slots', clusterWithoutSlots, 'has the slot', 'CLUSTERDOWN'],
  ['that is one node of a cluster', otherNodeOfCluster, 'redis+cluster', 'MOVED'],
  [
    'whose cluster lost a slot',
    clusterWithUncoveredSlot,
    'has the slot',
    // A pipeline that has lost the slot half-way is not sent again, so its commands fail with the node's own answer.
    /Too many Cluster redirections|CLUSTERDOWN/,
  ],
])('a Redis %s', (_what, start, reason, error) => {
  it('costs half a second and is down, counted and logged once, until it stops refusing', async () => {
    const { url, begin, end } = await start();
    await startOn(url);
    if (begin) {
      for (const process of processes) {
        await eventually(
          () => ready(process),
          ({ redis }) => redis === 'up',
        );
      }
      await reportAndAwait(SOON.firstMs);
      await begin();
    }
    await reportAndAwait(SOON.firstMs);
    for (let batch = 0; batch < 5; batch += 1) await reportAndAwait(SOON.laterMs);
    const because = expect.stringContaining(reason) as unknown;
    const down = { postgres: 'up', redis: 'down', reason: because };
    expect(await ready(processes[0]!)).toMatchObject({ code: 200, status: 'up', ...down });
    expect(await ready(processes[1]!)).toMatchObject({ code: 503, status: 'down', ...down });
    for (const [index, process] of processes.entries()) {
      const [away, ...others] = said(process);
      expect(away).toMatchObject({
        msg: 'Redis is away',
        err: { message: expect.stringMatching(error) as unknown },
      });
      expect(others).toEqual([]);
      expect(await errorsOf(index)).toBeGreaterThan(0);
    }
    if (!end) return;
    await end();
    for (const process of processes) {
      const up = { code: 200, status: 'up', postgres: 'up', redis: 'up' };
      expect(
        await eventually(
          () => ready(process),
          ({ redis }) => redis === 'up',
        ),
      ).toEqual(up);
      const lines = await eventually(
        () => said(process),
        ({ length }) => length > 1,
      );
      expect(lines.map(({ msg }) => msg)).toEqual(['Redis is away', 'Redis is back']);
    }
    await reportAndAwait(SOON.laterMs);
  });
});
