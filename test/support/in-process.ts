import type { AddressInfo } from 'node:net';
import type { DynamicModule } from '@nestjs/common';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { createHttpApplication } from '#libs/http';
import { type Config, readConfigOf } from '#libs/runtime';
import { ApiModule } from '../../apps/api/src/api.module.js';
import { WorkerModule } from '../../apps/worker/src/worker.module.js';
import { type Environment, environmentOf } from './environment.js';

/** A running API or worker, in any process. */
export interface Running {
  url: string;
  stop: () => Promise<unknown>;
}

/**
 * An API or a worker in the test's process, which starts faster and can be inspected. All in one process have the same
 * process id, so two workers count as one. Stop it before the database is dropped.
 */
export interface InProcess extends Running {
  app: NestExpressApplication;
}

/**
 * @param environment of the process: see {@link environmentOf}
 */
export function apiInProcess(environment: Environment): Promise<InProcess> {
  return start('api', (config) => ApiModule.forConfig(config), environment);
}

/** Like {@link apiInProcess}, for a worker. */
export function workerInProcess(environment: Environment): Promise<InProcess> {
  return start('worker', (config) => WorkerModule.forConfig(config), environment);
}

async function start(
  kind: 'api' | 'worker',
  moduleFor: (config: Config) => DynamicModule,
  environment: Environment,
): Promise<InProcess> {
  const config = readConfigOf(kind, environmentOf(kind, { LOG_LEVEL: 'silent', ...environment }));
  const app = await createHttpApplication(moduleFor(config));
  await app.listen(0, '127.0.0.1');
  const { port } = app.getHttpServer().address() as AddressInfo;
  let closing: Promise<void> | undefined;
  const stop = () => (closing ??= app.close());
  return { app, url: `http://127.0.0.1:${String(port)}`, stop };
}
