import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { ApiModule } from '../../apps/api/src/api.module.js';
import { configFromEnvironment } from '#libs/kernel';
import { createHttpApplication } from '#libs/kernel/http';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { testRedisUrl } from '../support/environment.js';

let database: TestDatabase;
let app: NestExpressApplication;

beforeAll(async () => {
  database = await createTestDatabase();
  process.env.DATABASE_URL = database.url;
  process.env.REDIS_URL = testRedisUrl().toString();
  process.env.LOG_LEVEL = 'silent';
  app = await createHttpApplication(ApiModule.forConfig(configFromEnvironment()));
  await app.listen(0, '127.0.0.1');
});
afterAll(async () => {
  await app.close();
  await database.drop();
});

it("makes requests and responses with Express's prototypes, as changing them is slow", async () => {
  const { request, response } = app.getHttpAdapter().getInstance();
  const server = app.getHttpServer();
  const made: unknown[] = [];
  server.prependListener('request', (first: IncomingMessage, second: ServerResponse) => {
    made.push(Object.getPrototypeOf(first), Object.getPrototypeOf(second));
  });
  const { port } = server.address() as AddressInfo;
  expect((await fetch(`http://127.0.0.1:${port}/health/live`)).status).toBe(200);
  expect(made).toHaveLength(2);
  expect(made[0]).toBe(request);
  expect(made[1]).toBe(response);
});
