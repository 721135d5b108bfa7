import type { NestExpressApplication } from '@nestjs/platform-express';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { apiInProcess } from '../support/in-process.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { send } from '../support/http.js';

/** The part of Express's router that lists the routes. */
interface Layer {
  route?: { path: string; methods: Record<string, boolean> };
}

const PUBLIC = [
  'GET /',
  'GET /console',
  'GET /console/{*path}',
  'GET /docs',
  'GET /docs/{*path}',
  'GET /health/live',
  'GET /health/ready',
  'GET /openapi.json',
];
const EVERY_PATH = '/{*path}';

let database: TestDatabase;
let app: NestExpressApplication;
let base: string;

beforeAll(async () => {
  database = await createTestDatabase();
  ({ app, url: base } = await apiInProcess({ DATABASE_URL: database.url }));
});
afterAll(async () => {
  await app.close();
  await database.drop();
});

function routes(): { method: string; path: string }[] {
  const express = app.getHttpAdapter().getInstance();
  const { stack } = express.router as unknown as { stack: Layer[] };
  return stack.flatMap(({ route }) =>
    route
      ? Object.keys(route.methods).map((method) => ({
          method: method.toUpperCase(),
          path: route.path,
        }))
      : [],
  );
}

it('answers 401 without credentials on every route except the public ones', async () => {
  const known = routes().filter(({ path }) => path !== EVERY_PATH);
  expect(known).toContainEqual({ method: 'PUT', path: '/v1/users/:user' });
  expect(known.length).toBeGreaterThan(20);
  const open: string[] = [];
  for (const { method, path } of known) {
    const { status } = await send(method, base + path.replaceAll(/:\w+/g, '1'));
    if (status !== 401) open.push(`${method} ${path}`);
  }
  expect(open.sort()).toEqual(PUBLIC);
});

it('registers the route for unknown paths last, so that it hides no other', () => {
  const paths = routes().map(({ path }) => path);
  const first = paths.indexOf(EVERY_PATH);
  expect(first).toBeGreaterThan(0);
  expect(new Set(paths.slice(first))).toEqual(new Set([EVERY_PATH]));
});

it('puts all other routes under /v1/', () => {
  const outside = routes().filter(({ path }) => !path.startsWith('/v1/') && path !== EVERY_PATH);
  expect(outside.map(({ method, path }) => `${method} ${path}`).sort()).toEqual(PUBLIC);
});
