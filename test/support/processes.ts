import { randomUUID } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '#tools/net';
import { Programs } from '#tools/programs';
import { type Environment, environmentOf } from './environment.js';
import { ServiceProcess } from './service-process.js';

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

/** Starts a process without waiting for anything: for those that are to fail. */
export async function launch(
  kind: 'api' | 'worker',
  environment: Environment,
  root?: string,
): Promise<ServiceProcess> {
  const started = new ServiceProcess({
    name: `${kind}-${(launched += 1)}`,
    kind,
    port: await freePort(),
    programs,
    environment: () => environmentOf(kind, environment),
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
