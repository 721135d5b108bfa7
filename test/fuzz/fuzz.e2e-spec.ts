import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { FuzzRun } from './fuzz-run.js';
import { requestsTo } from './requests.js';
import { Rules } from './rules.js';
import { createUser } from '../support/accounts.js';
import { type Installation, requireMakersOf } from '../support/belongings.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import {
  type ApiDocument,
  DescribedApi,
  type DescribedOperation,
} from '../support/described-api.js';
import { clientOf, send } from '../support/http.js';
import { startApi } from '../support/processes.js';
import type { ServiceProcess } from '../support/service-process.js';

// `npm run test:fuzz` sets them. The defaults change only with the number of operations, so that a failure of `npm test` is not a matter of luck.
const REQUESTS = Number(process.env.FUZZ_REQUESTS ?? 1_700);
const SEED = Number(process.env.FUZZ_SEED ?? 20_261_121);

let database: TestDatabase;
let api: ServiceProcess;
let rules: Rules;
let closed: DescribedOperation[];
let run: FuzzRun;

beforeAll(async () => {
  database = await createTestDatabase();
  const { auth } = await createUser(database, 'operator', 'platform');
  // The highest, so that no limit of the installation refuses what the description allows.
  api = await startApi({ DATABASE_URL: database.url, DELIVERY_CONCURRENCY: '1000' });
  const { text } = await send('GET', `${api.url}/openapi.json`);
  rules = new Rules(new DescribedApi(JSON.parse(text) as ApiDocument));
  closed = rules.api.operations.filter((one) => rules.api.mayRefuseWith(one, 'unauthorized'));
  requireMakersOf(closed.map(({ path }) => path));
  const installation: Installation = { database, url: api.url, platform: clientOf(api.url, auth) };
  run = new FuzzRun(installation, rules, auth);
});
afterAll(async () => {
  run.close();
  expect(await api.stop()).toBe('exited with code 0');
  await database.drop();
});

it(
  `answers every request as described: ${REQUESTS} requests, seed ${SEED}`,
  async () => {
    console.log(`fuzz: ${REQUESTS} requests, seed ${SEED}`);
    await fc.assert(
      fc.asyncProperty(requestsTo(closed, rules), (request) => run.check(request)),
      { seed: SEED, numRuns: REQUESTS, endOnFailure: false },
    );
  },
  Math.max(300_000, REQUESTS * 100),
);

it('has carried out every operation at least once', () => {
  const never = closed.filter(({ operation }) => !run.counts.get(operation.operationId)?.done);
  expect(never.map(({ operation }) => operation.operationId)).toEqual([]);
  const counts = [...run.counts.values()];
  const done = counts.reduce((sum, count) => sum + count.done, 0);
  const asked = counts.reduce((sum, count) => sum + count.asked, 0);
  // Not all requests fail for the same fault, and not all succeed.
  expect(done / asked).toBeGreaterThan(0.25);
  expect(done / asked).toBeLessThan(0.9);
});

it('has caused no error of the service', () => {
  expect(api.output()).not.toMatch(/"level":"(?:error|fatal)"/);
});
