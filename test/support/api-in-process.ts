import type { AddressInfo } from 'node:net';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { createHttpApplication } from '#libs/http';
import { readConfig } from '#libs/runtime';
import { ApiModule } from '../../apps/api/src/api.module.js';
import type { TestDatabase } from './database.js';
import { testRedisUrl } from './environment.js';

/** An API in the process of the test, which can look into it. Close it before the database is dropped. */
export async function apiInProcess(
  { url: DATABASE_URL }: TestDatabase,
  settings: Record<string, string> = {},
): Promise<{ app: NestExpressApplication; base: string }> {
  const REDIS_URL = testRedisUrl().toString();
  const config = readConfig({ DATABASE_URL, REDIS_URL, LOG_LEVEL: 'silent', ...settings });
  const app = await createHttpApplication(ApiModule.forConfig(config));
  await app.listen(0, '127.0.0.1');
  const { port } = app.getHttpServer().address() as AddressInfo;
  return { app, base: `http://127.0.0.1:${port}` };
}
