import { randomUUID } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '#tools/net';
import { Programs } from '#tools/programs';
import { asRole, testRedisUrl } from './environment.js';
import { type Environment, ServiceProcess } from './service-process.js';

/** What every process encrypts secrets with, unless it is told otherwise. */
export const SECRETS_KEYS = `test:${Buffer.alloc(32, 'test').toString('base64')}`;

const LOGS = join(tmpdir(), `switchhook-logs-${randomUUID()}`);
let launched = 0;

/** All that a test file starts. */
export const programs = new Programs(LOGS);

/** Starts the API and waits until it is ready. @param root where it is built */
export async function startApi(environment: Environment, root?: string): Promise<ServiceProcess> {
  const started = await launch('api', environment, root);
  await started.ready();
  return started;
}

/** Like {@link startApi}, a worker. */
export async function startWorker(
  environment: Environment,
  root?: string,
): Promise<ServiceProcess> {
  const started = await launch('worker', environment, root);
  await started.ready();
  return started;
}

/**
 * Starts a process without waiting for anything: for those that are to fail. On a test's own
 * database it has the role of such a process.
 */
export async function launch(
  kind: 'api' | 'worker',
  environment: Environment,
  root?: string,
): Promise<ServiceProcess> {
  const { DATABASE_URL: url } = environment;
  const started = new ServiceProcess({
    name: `${kind}-${(launched += 1)}`,
    kind,
    port: await freePort(),
    programs,
    environment: () => ({
      // No proxy waits to be told.
      SHUTDOWN_DELAY_MS: '0',
      REDIS_URL: testRedisUrl().toString(),
      SECRETS_KEYS,
      ...environment,
      ...(url !== undefined && { DATABASE_URL: asRole(url, kind) }),
    }),
    ...(root !== undefined && { root }),
  });
  started.launch();
  return started;
}

/** Ends what a test file left running, as one whose set-up failed half-way does. */
export async function endLeftOvers(): Promise<void> {
  await programs.kill();
  await rm(LOGS, { recursive: true, force: true });
}
