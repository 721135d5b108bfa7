import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { ROOT } from '#tools/settings';
import { createUser } from '../support/accounts.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { minimalApplication } from '../support/demo-account.js';
import { asRole } from '../support/environment.js';
import { clientOf } from '../support/http.js';
import { startApi, startWorker } from '../support/processes.js';

/** The packages that the bundle leaves out. The thread that hashes passwords loads the first. */
const OUTSIDE = ['@node-rs', 'ioredis', 'msgpackr-extract'];

let database: TestDatabase;
let root: string;

beforeAll(async () => {
  database = await createTestDatabase();
  root = mkdtempSync(join(tmpdir(), 'bundle-'));
  for (const path of ['package.json', 'dist/apps', 'dist/libs']) {
    cpSync(join(ROOT, path), join(root, path), { recursive: true });
  }
  mkdirSync(join(root, 'node_modules'));
  for (const name of OUTSIDE) {
    symlinkSync(join(ROOT, 'node_modules', name), join(root, 'node_modules', name));
  }
});
afterAll(async () => {
  rmSync(root, { recursive: true, force: true });
  await database.drop();
});

it('the built programs run with the packages of the bundle, and log lines of the sources', async () => {
  const environment = {
    DATABASE_URL: database.url,
    OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9',
  };
  const [api, worker] = await Promise.all([
    startApi(environment, root),
    startWorker(environment, root),
  ]);
  const { auth } = await createUser(database, 'customer');
  await database.query('ALTER TABLE applications ADD CONSTRAINT broken CHECK (id < 0) NOT VALID');
  const { status } = await clientOf(api.url, auth).post('/v1/applications', minimalApplication);
  expect(status).toBe(500);
  await Promise.all([api.stop(), worker.stop()]);
  expect(api.output()).toMatch(/libs\/applications\/src\/infrastructure\/[\w.-]+\.ts:\d+/);

  const cli = [join(root, 'dist/apps/cli/src/main.js'), 'users', 'list'];
  const env = { PATH: process.env.PATH, DATABASE_URL: asRole(database.url, 'api') };
  expect(execFileSync(process.execPath, cli, { env }).toString()).toContain('customer');
});
