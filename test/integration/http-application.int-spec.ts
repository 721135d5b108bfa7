import type { IncomingMessage, ServerResponse } from 'node:http';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { apiInProcess } from '../support/api-in-process.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { connectTo } from '../support/raw-connection.js';

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

it('closes every answer of a connection that is lost, also those that wait behind another', async () => {
  const states = { open: 0, opened: 0 };
  app.getHttpServer().prependListener('request', (_: unknown, response: ServerResponse) => {
    states.open += 1;
    states.opened += 1;
    response.once('close', () => (states.open -= 1));
  });
  const connection = await connectTo(base);
  // Refused, but one after the other.
  connection.write('GET /v1/webhooks HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(20));
  await connection.until(/401/);
  connection.destroy();
  await vi.waitFor(() => expect(states).toEqual({ open: 0, opened: 20 }));
});
