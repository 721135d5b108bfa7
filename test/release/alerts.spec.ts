import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { requireProgram } from '#tools/apt';
import { eventually } from '#tools/eventually';
import { freePort } from '#tools/net';
import { ROOT } from '#tools/settings';
import { healthyAccounts, type Account } from '../faults/harness/account.js';
import { Installation, type Setup } from '../faults/harness/installation.js';
import { confirm } from '../faults/harness/receiver.js';
import { Template } from '../faults/harness/template.js';
import { type ConnectProxy, startConnectProxy } from '../support/connect-proxy.js';
import { Prometheus } from '../support/prometheus.js';
import type { ServiceProcess } from '../support/service-process.js';

await requireProgram('prometheus');

const ACCOUNTS = 8;
const RATE = 20;
const SEEN_MS = 60_000;
/** How late the slowest alert is. */
const LONGEST_S = 900;
/** Contract, section 11. */
const HOLD_S = 120;
/** What is measured over a minute or two is over after this time. */
const ENDED_MS = 180_000;
const PRELOADED = join(ROOT, 'test/faults/harness');

let dir: string;
let template: Template;
let installation: Installation;
let prometheus: Prometheus;
let accounts: Account[];

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'alerts-'));
  template = await Template.make(join(dir, 'template'));
});
afterAll(async () => {
  await rm(dir, { recursive: true, force: true });
});

/** The fault is there from the start. */
const already = () => Promise.resolve(() => undefined);

/** What a fault shows, and where. */
interface Shown {
  fault: string;
  alert: string;
  /** Labels of the alert. */
  labels?: Record<string, string>;
  /** Whether the product shows it, and not only the alert. */
  sign?: () => Promise<boolean>;
  /** How soon the alert has to fire. */
  withinS?: number;
  /** Brings the fault about. @returns what ends it */
  harm: () => Promise<() => unknown>;
}

/** Tests of faults in one installation, under a little load. */
function inInstallation(name: string, setup: Setup, faults: readonly Shown[]): void {
  describe(name, () => {
    beforeAll(async () => {
      const at = join(dir, name);
      installation = await Installation.start(at, template, setup);
      accounts = await healthyAccounts(installation, ACCOUNTS);
      installation.producer.start(RATE);
      const jobs = { 'switchhook-api': [] as string[], 'switchhook-worker': [] as string[] };
      for (const [process, url] of installation.metrics) {
        jobs[process.startsWith('api') ? 'switchhook-api' : 'switchhook-worker'].push(url);
      }
      // A quarter of an hour is too long for a test.
      const quick = [['> 900', '> 90']] as [string, string][];
      prometheus = await Prometheus.start(
        join(at, 'prometheus'),
        installation.programs,
        jobs,
        quick,
      );
      // Each worker has had an answer of each host.
      await sleep(5_000);
    });
    afterAll(async () => {
      await Promise.all(accounts.map(({ producer }) => producer.finish()));
      await installation.end();
    });

    it.each(faults)(
      '$fault: $alert',
      async ({ fault, alert, labels = {}, sign, withinS, harm }) => {
        const firing = async () =>
          (await prometheus.firing(alert)).filter((one) =>
            Object.entries(labels).every(([label, value]) => one.labels[label] === value),
          );
        if (harm !== already) {
          await eventually(firing, ({ length }) => length === 0, { ms: ENDED_MS });
        }
        const begunAt = Date.now();
        const end = await harm();
        try {
          const seen = sign
            ? eventually(sign, Boolean, { ms: SEEN_MS }).then(() => Date.now())
            : undefined;
          const [first] = await eventually(firing, ({ length }) => length > 0, { ms: ENDED_MS });
          const seconds = (at: number): number => Math.round((at - begunAt) / 1_000);
          const shown = seen === undefined ? '' : `shown after ${String(seconds(await seen))} s; `;
          const firesS = seconds(first!.activeAt.getTime()) + prometheus.waitOf(alert);
          process.stderr.write(`${fault}: ${shown}${alert} fires after ${String(firesS)} s\n`);
          expect(firesS).toBeLessThanOrEqual(withinS ?? LONGEST_S);
        } finally {
          await end();
        }
      },
    );
  });
}

/** A member of the answers of `/health/ready`, with their status; a process that does not answer has none. */
async function healthOf({ url }: ServiceProcess): Promise<Record<string, unknown>> {
  const answer = await fetch(`${url}/health/ready`).catch(() => undefined);
  return { code: answer?.status, ...((await answer?.json()) as object | undefined) };
}

const healthShows = (process: () => ServiceProcess, member: string, value: unknown) => async () =>
  (await healthOf(process()))[member] === value;
const reasonIs = (process: () => ServiceProcess, reason: string) => async () =>
  String((await healthOf(process())).reason).includes(reason);
const api = (): ServiceProcess => installation.apis[0]!;
const worker = (): ServiceProcess => installation.workers[0]!;

async function set(name: string, value: string): Promise<void> {
  await installation.postgres.query(`ALTER SYSTEM SET ${name} = '${value}'`);
  await installation.postgres.query('SELECT pg_reload_conf()');
}

inInstallation('stores', {}, [
  {
    fault: 'Redis is stopped',
    alert: 'SwitchhookRedisErrors',
    sign: healthShows(worker, 'redis', 'down'),
    harm: async () => {
      await installation.redis.kill();
      return () => installation.redis.start();
    },
  },
  {
    fault: 'PostgreSQL is stopped',
    alert: 'SwitchhookServerErrors',
    sign: healthShows(api, 'postgres', 'down'),
    harm: async () => {
      await installation.postgres.kill();
      return () => installation.postgres.start();
    },
  },
  {
    fault: 'Redis is full',
    alert: 'SwitchhookRedisErrors',
    sign: reasonIs(worker, 'Redis is full'),
    harm: async () => {
      await installation.redis.command('CONFIG', 'SET', 'maxmemory', '1');
      return () => installation.redis.command('CONFIG', 'SET', 'maxmemory', '0');
    },
  },
  {
    fault: 'PostgreSQL is read-only',
    alert: 'SwitchhookServerErrors',
    sign: reasonIs(api, 'default_transaction_read_only'),
    harm: async () => {
      await set('default_transaction_read_only', 'on');
      return async () => {
        const reset = 'ALTER SYSTEM RESET default_transaction_read_only';
        const client = await installation.postgres.connect();
        await client.query('SET default_transaction_read_only = off');
        await client.query(reset);
        await client.query('SELECT pg_reload_conf()');
        await client.end();
      };
    },
  },
  {
    fault: 'Redis forbids scripts',
    alert: 'SwitchhookRedisErrors',
    sign: reasonIs(worker, 'Redis refuses the command'),
    harm: async () => {
      await installation.redis.command('ACL', 'SETUSER', 'default', '-evalsha', '-eval');
      return () => installation.redis.command('ACL', 'SETUSER', 'default', '+evalsha', '+eval');
    },
  },
  {
    fault: 'a background task fails',
    alert: 'SwitchhookTaskFails',
    labels: { task: 'attempt-counts' },
    harm: async () => {
      const role = installation.postgres.urlOf('worker').username;
      await installation.postgres.query(`REVOKE INSERT ON attempt_counts FROM ${role}`);
      return () => installation.postgres.query(`GRANT INSERT ON attempt_counts TO ${role}`);
    },
  },
  {
    fault: 'outcomes are refused',
    alert: 'SwitchhookOutcomesRefused',
    harm: async () => {
      const role = installation.postgres.urlOf('worker').username;
      await installation.postgres.query(`REVOKE INSERT ON attempts FROM ${role}`);
      return () => installation.postgres.query(`GRANT INSERT ON attempts TO ${role}`);
    },
  },
]);

inInstallation('processes', {}, [
  {
    fault: 'no worker runs',
    alert: 'SwitchhookNoWorker',
    harm: async () => {
      await Promise.all(installation.workers.map((one) => one.kill()));
      return () => Promise.all(installation.workers.map((one) => one.start()));
    },
  },
  {
    fault: 'no API runs',
    alert: 'SwitchhookNoApi',
    harm: async () => {
      await Promise.all(installation.apis.map((one) => one.kill()));
      return () => Promise.all(installation.apis.map((one) => one.start()));
    },
  },
  {
    fault: 'no target answers',
    alert: 'SwitchhookHold',
    withinS: HOLD_S,
    sign: healthShows(worker, 'hold', 'unreachable'),
    harm: () => {
      installation.receiver.answering = () => undefined;
      return Promise.resolve(() => {
        installation.receiver.answering = confirm;
      });
    },
  },
  {
    fault: 'most targets do not answer',
    alert: 'SwitchhookNoAnswers',
    harm: () => {
      installation.receiver.answering = (arrival, response) => {
        // Of the twenty events a second of the main account, which has two targets.
        if (arrival.path === '/first' || arrival.path.startsWith('/healthy')) {
          confirm(arrival, response);
        } else response.destroy();
      };
      return Promise.resolve(() => {
        installation.receiver.answering = confirm;
      });
    },
  },
]);

const proxyPort = await freePort();
let proxy: ConnectProxy | undefined;
const throughProxy: Setup = {
  target: async (path, { url }) => {
    proxy ??= await startConnectProxy(undefined, proxyPort);
    return url + path;
  },
  environment: () => ({ DELIVERY_PROXY_URL: `http://127.0.0.1:${String(proxyPort)}` }),
};

const proxyAway = async () => {
  await proxy!.close();
  return async () => {
    proxy = await startConnectProxy(undefined, proxyPort);
  };
};

inInstallation('egress', throughProxy, [
  {
    fault: 'the egress proxy is away',
    alert: 'SwitchhookHold',
    withinS: HOLD_S,
    sign: healthShows(worker, 'hold', 'proxy'),
    harm: proxyAway,
  },
  {
    fault: 'the egress proxy is away',
    alert: 'SwitchhookOwnFaults',
    labels: { fault: 'proxy' },
    harm: proxyAway,
  },
]);
afterAll(() => proxy?.close());

/** A key of stored secrets. */
const keyOf = (id: string): string => `${id}:${Buffer.alloc(32, id).toString('base64')}`;

const apart: Setup = {
  environment: (name) => ({
    ...(name === 'worker-1' && {
      NODE_OPTIONS: `--import ${join(PRELOADED, 'shifted-clock.mjs')}`,
      CLOCK_SHIFT_MS: '600000',
    }),
    ...(name === 'api-2' && {
      NODE_OPTIONS: `--import ${join(PRELOADED, 'shifted-clock.mjs')}`,
      CLOCK_SHIFT_MS: '-1200000',
    }),
    SECRETS_KEYS: keyOf(name === 'worker-2' ? 'b' : 'a'),
  }),
};

inInstallation('hosts', apart, [
  { fault: 'the clock of a process is wrong', alert: 'SwitchhookClockOffset', harm: already },
  {
    fault: 'a key is missing',
    alert: 'SwitchhookSecretsUnread',
    sign: reasonIs(() => installation.workers[1]!, 'SECRETS_KEYS has no key "a"'),
    harm: already,
  },
]);

inInstallation('standby', { standby: true }, [
  {
    fault: 'commits no longer wait for a standby',
    alert: 'SwitchhookNotSynchronous',
    harm: async () => {
      await set('synchronous_standby_names', '');
      return () => set('synchronous_standby_names', '*');
    },
  },
  {
    fault: 'the synchronous standby is lost',
    alert: 'SwitchhookServerErrors',
    harm: () => {
      const { pids } = installation.standby!;
      for (const pid of pids) process.kill(pid, 'SIGSTOP');
      return Promise.resolve(() => {
        for (const pid of pids) process.kill(pid, 'SIGCONT');
      });
    },
  },
  {
    fault: 'a second host takes writes',
    alert: 'SwitchhookSeveralPrimaries',
    sign: reasonIs(api, 'several hosts of PostgreSQL take writes'),
    harm: async () => {
      await set('synchronous_standby_names', '');
      await installation.standby!.query('SELECT pg_promote()');
      return () => installation.standby!.kill();
    },
  },
]);
