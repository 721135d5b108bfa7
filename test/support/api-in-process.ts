import type { AddressInfo } from 'node:net';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { createHttpApplication } from '#libs/http';
import { configFromEnvironment } from '#libs/runtime';
import { ApiModule } from '../../apps/api/src/api.module.js';
import type { TestDatabase } from './database.js';
import { testRedisUrl } from './environment.js';

/** An API in the process of the test, which can look into it. Close it before the database is dropped. */
export async function apiInProcess(
  database: TestDatabase,
): Promise<{ app: NestExpressApplication; base: string }> {
  process.env.DATABASE_URL = database.url;
  process.env.REDIS_URL = testRedisUrl().toString();
  process.env.LOG_LEVEL = 'silent';
  const app = await createHttpApplication(ApiModule.forConfig(configFromEnvironment()));
  await app.listen(0, '127.0.0.1');
  const { port } = app.getHttpServer().address() as AddressInfo;
  return { app, base: `http://127.0.0.1:${port}` };
}
