import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createUser } from '../support/accounts.js';
import { bodiesOf, pathWith } from '../support/belongings.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import {
  type ApiDocument,
  DescribedApi,
  type DescribedOperation,
} from '../support/described-api.js';
import { type Answer, type Client, clientOf, send } from '../support/http.js';
import { apiInProcess, type InProcess } from '../support/in-process.js';
import { MANY, type Piled, pileUp } from '../support/piled.js';

const PAGE = fileURLToPath(new URL('../../docs/operating/route-bounds.md', import.meta.url));
/** Rows that background tasks and the check of credentials may read in the meantime. */
const ASIDE = 100;

/** A row of the page. */
interface Bound {
  rows: number;
  atOnce: number;
  kib: number;
}

let database: TestDatabase;
let api: InProcess;
let described: DescribedApi;
let piled: Piled;
let customer: Client;
let platform: Client;
let counting: pg.Client[];

/** The connections of the API, and the largest result that any of them has returned. */
const connections = new Set<pg.Client>();
let atOnce = 0;

/** Counts the rows that each statement of this process, and so of the API, returns. */
function watchResults(): () => void {
  // eslint-disable-next-line @typescript-eslint/unbound-method -- called with the right receiver
  const original = pg.Client.prototype.query;
  const watched = function (this: pg.Client, ...given: unknown[]): unknown {
    if (!counting.includes(this)) connections.add(this);
    const last = given.at(-1);
    const note = (result: unknown) => {
      const { rows } = (result ?? {}) as { rows?: unknown[] };
      atOnce = Math.max(atOnce, rows?.length ?? 0);
    };
    if (typeof last === 'function') {
      given[given.length - 1] = (error: unknown, result: unknown) => {
        note(result);
        (last as (error: unknown, result: unknown) => void)(error, result);
      };
    }
    const answer = Reflect.apply(original, this, given) as unknown;
    if (answer instanceof Promise) void answer.then(note, () => undefined);
    return answer;
  };
  pg.Client.prototype.query = watched as typeof original;
  return () => {
    pg.Client.prototype.query = original;
  };
}

let restore: () => void;

beforeAll(async () => {
  counting = [];
  database = await createTestDatabase();
  restore = watchResults();
  api = await apiInProcess({ DATABASE_URL: database.url, DATABASE_POOL_SIZE: '2' });
  const { text } = await send('GET', `${api.url}/openapi.json`);
  described = new DescribedApi(JSON.parse(text) as ApiDocument);
  const owner = await createUser(database, 'customer');
  const operator = await createUser(database, 'operator', 'platform');
  customer = clientOf(api.url, owner.auth);
  platform = clientOf(api.url, operator.auth);
  piled = await pileUp(database, { accountId: owner.id, platform });
  // Verified logins are cached.
  for (const client of [customer, platform]) await client.get('/v1/session');
});
afterAll(async () => {
  restore();
  await api.stop();
  await database.drop();
});

/** The rows of tables and entries of indexes read since the database was created. */
async function rowsRead(): Promise<number> {
  const busy = [...connections].filter((client) => !('_ended' in client && client._ended === true));
  await Promise.all(
    busy.map((client) => client.query('SELECT pg_stat_force_next_flush()').catch(() => undefined)),
  );
  const [row] = await database.query<{ read: number }>(
    `SELECT ((SELECT sum(seq_tup_read) FROM pg_stat_user_tables)
       + (SELECT sum(idx_tup_read) FROM pg_stat_user_indexes))::float8 AS read`,
  );
  return row!.read;
}

/** The largest page, and a filter that finds nothing. */
function queriesOf(one: DescribedOperation): string[] {
  const names = described.parametersOf(one, 'query').map(({ name }) => name);
  return [
    ...(names.includes('limit') ? ['?limit=1000'] : []),
    ...(names.includes('event') ? ['?event=webhookFailing'] : []),
  ];
}

const isMissed = ({ operation }: DescribedOperation) =>
  operation.operationId === 'missedEventsDeliver';

function callsOf(one: DescribedOperation): (() => Promise<Answer>)[] {
  const isForPlatform = described.isForPlatform(one);
  const client = isForPlatform ? platform : customer;
  const path = pathWith(one, (place) => piled.ids.get(place) ?? 'x');
  if (described.isEndless(one)) return [() => client.head(path)];
  if (one.method === 'GET') {
    const queries = ['', ...queriesOf(one)];
    return queries.map((query) => () => client.get(path + query));
  }
  const calls: Record<string, (body: object | undefined) => Promise<Answer>> = {
    POST: (body) => client.post(path, body),
    PUT: (body) => client.put(path, body),
    DELETE: () => client.delete(path),
  };
  const { free } = piled;
  const ids = new Map([...piled.ids, ...(isMissed(one) ? [['webhooks', free] as const] : [])]);
  return bodiesOf(described, one, { ids }).map((body) => () => calls[one.method]!(body));
}

/** The routes of the page, with the numbers in their rows. */
function boundsOfPage(): Map<string, Bound> {
  const [, table = ''] =
    /<!-- routes -->([^]*)<!-- \/routes -->/.exec(readFileSync(PAGE, 'utf8')) ?? [];
  const numberOf = (cell = '') => {
    const isNamed = ['streamed', 'shared', 'counted', 'all'].includes(cell);
    return isNamed ? Infinity : Number(cell.replaceAll(',', ''));
  };
  const rows = table
    .split('\n')
    .filter((line) => line.startsWith('| `'))
    .map((line) => line.split('|').map((cell) => cell.trim()));
  return new Map(
    rows.map(([, route = '', rows_, atOnce_, kib]) => [
      route.replaceAll('`', ''),
      { rows: numberOf(rows_), atOnce: numberOf(atOnce_), kib: numberOf(kib) },
    ]),
  );
}

const nameOf = ({ method, path }: DescribedOperation) => `${method} ${path}`;

it('names every route of the API, and no other', () => {
  const routes = described.operations.map(nameOf);
  expect([...boundsOfPage().keys()].sort()).toEqual(routes.sort());
});

/** The order of the calls: routes that remove something come last, and the account at the very end. */
function orderOf(one: DescribedOperation): number {
  if (one.method === 'GET') return 0;
  if (one.method === 'POST') return 1;
  if (one.method === 'PUT') return 1.5;
  return { usersClose: 5, applicationsDelete: 4, sessionEnd: 3 }[one.operation.operationId] ?? 2;
}

it(`keeps each route within its bounds for an account that has ${MANY} of everything`, async () => {
  const bounds = boundsOfPage();
  const found: Record<string, object> = {};
  const beyond: Record<string, object> = {};
  const ordered = [...described.operations].sort((one, other) => orderOf(one) - orderOf(other));
  for (const one of ordered) {
    const most = { rows: 0, atOnce: 0, kib: 0, statuses: [] as number[] };
    for (const call of callsOf(one)) {
      const before = await rowsRead();
      atOnce = 0;
      const { status, text } = await call();
      const returned = atOnce;
      most.rows = Math.max(most.rows, (await rowsRead()) - before - ASIDE);
      most.atOnce = Math.max(most.atOnce, returned);
      most.kib = Math.max(most.kib, Math.ceil(Buffer.byteLength(text) / 1_024));
      most.statuses.push(status);
    }
    found[nameOf(one)] = most;
    const bound = bounds.get(nameOf(one)) ?? { rows: 0, atOnce: 0, kib: 0 };
    const isWithin =
      most.rows <= bound.rows && most.atOnce <= bound.atOnce && most.kib <= bound.kib;
    const isServed = most.statuses.every((status) => status < 500);
    if (!isWithin || !isServed) beyond[nameOf(one)] = most;
  }
  if (process.env['SHOW_BOUNDS'] !== undefined) console.log(JSON.stringify(found, null, 1));
  expect(beyond).toEqual({});
});
