import type { IncomingMessage, ServerResponse } from 'node:http';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { apiInProcess } from '../support/api-in-process.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';

let database: TestDatabase;
let app: NestExpressApplication;
let base: string;

beforeAll(async () => {
  database = await createTestDatabase();
  ({ app, base } = await apiInProcess(database));
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
  expect((await fetch(`${base}/health/live`)).status).toBe(200);
  expect(made).toHaveLength(2);
  expect(made[0]).toBe(request);
  expect(made[1]).toBe(response);
});
