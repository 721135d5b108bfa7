import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { setTimeout as delay } from 'node:timers/promises';
import { asRole, testRedisUrl } from './environment.js';
import { send } from './http.js';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const READY_MS = 30_000;
const STOP_MS = 15_000;

/** What every process encrypts secrets with, unless it is told otherwise. */
export const SECRETS_KEYS = `test:${Buffer.alloc(32, 'test').toString('base64')}`;

const running = new Set<RunningProcess>();

/** How a process ended: its exit code, else the signal that ended it. */
export type Ending = number | NodeJS.Signals;

/** A real process of ours under test. */
export interface RunningProcess {
  url: string;
  pid: number;
  /** What it has written so far, both streams. */
  output: () => string;
  ended: Promise<Ending>;
  /** SIGTERM, and SIGKILL when that takes too long. */
  stop: () => Promise<Ending>;
  /** SIGKILL. */
  kill: () => Promise<void>;
}

/** Variables of a process's environment; undefined takes one away. */
export type Environment = Record<string, string | undefined>;

/**
 * Starts the API and waits until it is ready. `DATABASE_URL` must be among the variables.
 * @param root where it is built
 */
export async function startApi(environment: Environment, root = ROOT): Promise<RunningProcess> {
  const port = await freePort();
  const started = run('apps/api', port, { PORT: String(port), ...environment }, root);
  await ready(started);
  return started;
}

/** Like {@link startApi}, a worker. */
export async function startWorker(environment: Environment, root = ROOT): Promise<RunningProcess> {
  const port = await freePort();
  const started = run('apps/worker', port, { WORKER_PORT: String(port), ...environment }, root);
  await ready(started);
  return started;
}

/**
 * Starts a process without waiting for anything: for those that are to fail. On a test's own
 * database it has the role of such a process.
 */
export function run(
  app: 'apps/api' | 'apps/worker',
  port: number,
  environment: Environment,
  root = ROOT,
): RunningProcess {
  const { DATABASE_URL: url } = environment;
  const role = app === 'apps/api' ? 'api' : 'worker';
  const child = spawn(process.execPath, [`dist/${app}/src/main.js`], {
    cwd: root,
    env: {
      PATH: process.env.PATH,
      HOST: '127.0.0.1',
      // No proxy waits to be told.
      SHUTDOWN_DELAY_MS: '0',
      REDIS_URL: testRedisUrl().toString(),
      SECRETS_KEYS,
      ...environment,
      ...(url !== undefined && { DATABASE_URL: asRole(url, role) }),
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const written: string[] = [];
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => written.push(text));
  }
  const ended = once(child, 'close').then(
    ([code, signal]: (number | NodeJS.Signals | null)[]) => (code ?? signal) as Ending,
  );
  const kill = async (): Promise<void> => {
    child.kill('SIGKILL');
    await ended;
  };
  const started: RunningProcess = {
    url: `http://127.0.0.1:${port}`,
    pid: child.pid ?? 0,
    output: () => written.join(''),
    ended,
    stop: async () => {
      child.kill('SIGTERM');
      const timer = setTimeout(() => child.kill('SIGKILL'), STOP_MS);
      try {
        return await ended;
      } finally {
        clearTimeout(timer);
      }
    },
    kill,
  };
  running.add(started);
  void ended.then(() => running.delete(started));
  return started;
}

/** Resident memory of a running process, in MB. */
export function residentMb({ pid }: Pick<RunningProcess, 'pid'>): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Number(/^VmRSS:\s+(\d+)/m.exec(status)?.[1]) / 1_024;
}

/** Ends what a test file left running, as one whose set-up failed half-way does. */
export async function endLeftOvers(): Promise<void> {
  await Promise.all([...running].map((left) => left.kill()));
}

async function ready(started: RunningProcess): Promise<void> {
  let ending: Ending | undefined;
  void started.ended.then((how) => {
    ending = how;
  });
  for (const deadline = Date.now() + READY_MS; Date.now() < deadline;) {
    const isReady = await send('GET', `${started.url}/health/ready`).then(
      ({ status }) => status === 200,
      () => false,
    );
    if (isReady) return;
    if (ending !== undefined) throw new Error(`ended (${ending}):\n${started.output()}`);
    await delay(25);
  }
  await started.kill();
  throw new Error(`not ready in ${READY_MS} ms:\n${started.output()}`);
}

/** A port that nothing listens on just now. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}
