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

/** All processes that a test file starts. */
export const programs = new Programs(LOGS);

/**
 * Starts the API and waits until it is ready. @param root of the build
 */
export async function startApi(environment: Environment, root?: string): Promise<ServiceProcess> {
  const started = await launch('api', environment, root);
  await started.ready();
  return started;
}

/** Like {@link startApi}, for a worker. */
export async function startWorker(
  environment: Environment,
  root?: string,
): Promise<ServiceProcess> {
  const started = await launch('worker', environment, root);
  await started.ready();
  return started;
}

/** Starts a process without waiting, for processes that should fail. */
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

/** Ends all processes that a test file left running, for example after a failed set-up. */
export async function endLeftOvers(): Promise<void> {
  await programs.kill();
  await rm(LOGS, { recursive: true, force: true });
}
