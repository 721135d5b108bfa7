import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '#tools/eventually';
import { createUser } from '../support/accounts.js';
import {
  accountWithEverything,
  type Belongings,
  bodiesOf,
  type Installation,
  numberUnmistakably,
  pathWith,
  requireMakersOf,
} from '../support/belongings.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import {
  type ApiDocument,
  DescribedApi,
  type DescribedOperation,
  placesOf,
} from '../support/described-api.js';
import { type Answer, clientOf, send } from '../support/http.js';
import { apiInProcess, type Running } from '../support/in-process.js';

/**
 * Generated from the API description, so that every addition to the API is tested as soon as it is described.
 * (openapi.int-spec checks the description against the routes.)
 */

let database: TestDatabase;
let api: Running;
let installation: Installation;
let described: DescribedApi;
let closed: DescribedOperation[];
/** The account that owns everything. */
let owner: Belongings;
/** Another account that owns the same, and must get nothing of the owner's. */
let stranger: Belongings;

/** Resources without an account: everyone may see them. */
const SHARED = ['environments'];

beforeAll(async () => {
  database = await createTestDatabase();
  await numberUnmistakably(database);
  const { auth } = await createUser(database, 'operator', 'platform');
  api = await apiInProcess({ DATABASE_URL: database.url, TRUSTED_PROXIES: '127.0.0.1' });
  installation = { database, url: api.url, platform: clientOf(api.url, auth) };
  const { text } = await send('GET', `${api.url}/openapi.json`);
  described = new DescribedApi(JSON.parse(text) as ApiDocument);
  closed = described.operations.filter((one) => described.mayRefuseWith(one, 'unauthorized'));
  requireMakersOf(closed.map(({ path }) => path));
  owner = await accountWithEverything(installation, 'the-owner');
  stranger = await accountWithEverything(installation, 'the-stranger');
});
afterAll(async () => {
  await api.stop();
  await database.drop();
});

const isForPlatform = (one: DescribedOperation) => described.isForPlatform(one);
const nameOf = ({ operation: { operationId } }: DescribedOperation) => operationId;

/** The places in a path that hold an id of an account's own resource. */
const ownedPlaces = ({ path }: DescribedOperation) =>
  placesOf(path).filter(({ place }) => !SHARED.includes(place));

function call(
  one: DescribedOperation,
  path: string,
  auth?: string,
  body?: unknown,
  headers = {},
): Promise<Answer> {
  return send(one.method, api.url + path, { ...(auth !== undefined && { auth }), body, headers });
}

/** An unused id of the same kind. */
function unknownLike(id: string): string {
  if (id.includes('-')) return '019a0000-0000-7000-8000-000000000000';
  return '799999999';
}

/** Every text that identifies an account: its ids and its name. */
const tracesOf = ({ username, ids }: Belongings): string[] => [
  username,
  ...[...ids].filter(([place]) => !SHARED.includes(place)).map(([, id]) => id),
];

const tracesIn = (text: string, of: Belongings): string[] =>
  tracesOf(of).filter((trace) => text.includes(trace));

/** Every row that contains a trace of an account, without times of last use and counts, which are stored later. */
async function rowsOf(of: Belongings): Promise<string[]> {
  const tables = await database.query<{ name: string }>(
    `SELECT c.oid::regclass::text AS name FROM pg_class c
     JOIN pg_namespace n ON n.oid = c.relnamespace
     WHERE c.relkind IN ('r', 'p') AND NOT c.relispartition AND n.nspname = 'public'
       AND c.relname <> 'account_loads' ORDER BY 1`,
  );
  const rows: string[] = [];
  for (const { name } of tables) {
    const all = await database.query<{ row: string }>(
      `SELECT (to_jsonb(t) - 'last_used_at')::text AS row FROM ${name} t`,
    );
    rows.push(
      ...all.map(({ row }) => `${name} ${row}`).filter((row) => tracesIn(row, of).length > 0),
    );
  }
  return rows.sort();
}

/** An answer without the parts that differ for each request. */
function comparable(answer: Answer): unknown {
  const body = answer.json();
  const { headers } = answer;
  const own = { requestId: undefined, instance: undefined };
  return [answer.status, headers['content-type'], headers['content-length'], { ...body, ...own }];
}

/** The ways to put another account's ids into a path: at one of its places, or at several. */
function mixtures(places: readonly string[]): string[][] {
  return places
    .reduce<string[][]>((sets, place) => [...sets, ...sets.map((set) => [...set, place])], [[]])
    .filter((set) => set.length > 0);
}

describe('an account with one of everything', () => {
  it('leaves traces in the tables that these tests compare', async () => {
    const tables = new Set((await rowsOf(owner)).map((row) => row.split(' ', 1)[0]));
    expect([...tables]).toEqual(
      expect.arrayContaining(['applications', 'credentials', 'deliveries', 'events', 'replays']),
    );
  });

  it('is tested through every described route', () => {
    expect(closed.length).toBeGreaterThan(40);
    expect(closed.filter((one) => ownedPlaces(one).length > 0).length).toBeGreaterThan(25);
  });

  it('can itself use every route that is tested', async () => {
    const userOf = usersOfRoutes('heir');
    for (const one of closed.filter((each) => !isForPlatform(each) && !described.isEndless(each))) {
      const own = await userOf(one);
      for (const body of bodiesOf(described, one, own)) {
        const { status } = await call(
          one,
          pathWith(one, (place) => own.ids.get(place)!),
          own.auth,
          body,
        );
        // 409 if the state of the resource does not allow it.
        expect([nameOf(one), status]).toEqual([nameOf(one), expect.toBeOneOf([200, 202, 409])]);
      }
    }
  });
});

/** Accounts that may use operations: a new one for each deletion, and one for all others. */
function usersOfRoutes(name: string): (one: DescribedOperation) => Promise<Belongings> {
  let count = 0;
  const make = () => {
    count += 1;
    return accountWithEverything(installation, `${name}-${count}`);
  };
  let shared: Promise<Belongings> | undefined;
  return ({ method }) => (method === 'DELETE' ? make() : (shared ??= make()));
}

describe("another account's resource", () => {
  it('is answered like an unknown one on every route, and stays unchanged', async () => {
    const before = await rowsOf(owner);
    let count = 0;
    for (const one of closed) {
      const places = ownedPlaces(one).map(({ place }) => place);
      for (const theirs of mixtures(places)) {
        for (const body of bodiesOf(described, one, stranger)) {
          const filled = (idOf: (id: string) => string) =>
            pathWith(one, (place) =>
              theirs.includes(place) ? idOf(owner.ids.get(place)!) : stranger.ids.get(place)!,
            );
          const asked = filled((id) => id);
          const answer = await call(one, asked, stranger.auth, body);
          const unknown = await call(one, filled(unknownLike), stranger.auth, body);
          const wanted = isForPlatform(one) ? 403 : 404;
          expect([nameOf(one), asked, answer.status]).toEqual([nameOf(one), asked, wanted]);
          expect(comparable(answer)).toEqual(comparable(unknown));
          count += 1;
        }
      }
    }
    expect(count).toBeGreaterThan(50);
    expect(await rowsOf(owner)).toEqual(before);
  });

  it('is not found by the name of its user either', async () => {
    for (const one of closed.filter(({ path }) => path.startsWith('/v1/users/{'))) {
      const path = (name: string) =>
        pathWith(one, (place) => (place === 'users' ? name : owner.ids.get(place)!));
      for (const body of bodiesOf(described, one, stranger)) {
        const answer = await call(one, path(owner.username), stranger.auth, body);
        const unknown = await call(one, path('no-person'), stranger.auth, body);
        expect([nameOf(one), answer.status]).toEqual([nameOf(one), isForPlatform(one) ? 403 : 404]);
        expect(comparable(answer)).toEqual(comparable(unknown));
      }
    }
  });

  it('is in no list, and no filter finds it', async () => {
    let lists = 0;
    const reads = closed.filter(
      (one) => one.method === 'GET' && !isForPlatform(one) && !described.isEndless(one),
    );
    for (const one of reads) {
      const path = pathWith(one, (place) => stranger.ids.get(place)!);
      // The feed begins now by default.
      const start = one.path === '/v1/feed' ? 'since=2020-01-31T12:00:00Z&' : '';
      const plain = await call(one, `${path}?${start}`, stranger.auth);
      expect([nameOf(one), plain.status, tracesIn(plain.text, owner)]).toEqual([
        nameOf(one),
        200,
        [],
      ]);
      // Environments are shared, and attempts contain no names.
      const namesOwn = one.path !== '/v1/environments' && !one.path.endsWith('/attempts');
      if (Array.isArray(plain.json()) && namesOwn) {
        expect([nameOf(one), tracesIn(plain.text, stranger)]).not.toEqual([nameOf(one), []]);
        lists += 1;
      }
      for (const { name, schema } of described.parametersOf(one, 'query')) {
        for (const trace of tracesOf(owner)) {
          const answer = await call(one, `${path}?${start}${name}=${trace}`, stranger.auth);
          const isText = [schema.type].flat().includes('string') && !('format' in schema);
          // Other parameters are refused for their type; the name of an account is not a number, for example.
          if (answer.status === 400)
            expect([name, isText && !schema['pattern']]).toEqual([name, schema.enum !== undefined]);
          else {
            // Nobody but the platform finds a resource of another account. `instance` is what was asked.
            const status = name === 'accountId' && one.path.includes('{') ? 404 : 200;
            const told = answer.text.replace(/"instance":"[^"]*"/, '');
            expect([name, answer.status, tracesIn(told, owner)]).toEqual([name, status, []]);
          }
          const isList = answer.status === 200 && Array.isArray(answer.json());
          const isFilter = isList && !['after', 'limit'].includes(name);
          if (isFilter) expect([nameOf(one), name, answer.json()]).toEqual([nameOf(one), name, []]);
        }
      }
    }
    expect(lists).toBeGreaterThan(4);
  });

  it('cannot be referenced in a body', async () => {
    const before = await rowsOf(owner);
    const references = referencesTo(owner);
    const userOf = usersOfRoutes('referrer');
    let count = 0;
    for (const one of closed.filter((each) => described.bodyOf(each) && !isForPlatform(each))) {
      const own = await userOf(one);
      for (const body of bodiesOf(described, one, own)) {
        const path = pathWith(one, (place) => own.ids.get(place)!);
        const answer = await call(one, path, own.auth, { ...body, ...references });
        expect([nameOf(one), tracesIn(answer.text, owner)]).toEqual([nameOf(one), []]);
        count += 1;
      }
    }
    expect(count).toBeGreaterThan(10);
    expect(await rowsOf(owner)).toEqual(before);
  });

  it('gets no event that is reported with the id of another account', async () => {
    const before = await rowsOf(owner);
    const event = { event: 'cdrCreated', resource: 'call', data: {} };
    const mixed = {
      ...event,
      applicationId: owner.ids.get('applications'),
      accountId: stranger.ids.get('users'),
    };
    const answer = await installation.platform.post('/v1/events', mixed);
    expect(answer.json()).toMatchObject({ errors: [{ field: 'accountId', code: 'conflict' }] });
    const batch = await installation.platform.post('/v1/events/batch', { events: [mixed] });
    expect(batch.json()).toMatchObject({ results: [{ code: 'validation_failed' }] });
    expect(await rowsOf(owner)).toEqual(before);
  });
});

/** Every member that could name another account's resource, in the style of our fields. */
function referencesTo({ ids }: Belongings): Record<string, string> {
  const references = [...ids].flatMap(([place, id]) => {
    if (SHARED.includes(place)) return [];
    const one = place.split('/').at(-1)!.replace(/ies$/, 'y').replace(/s$/, '');
    return [
      [`${one}Id`, id],
      [one, `${api.url}/v1/${place}/${id}`],
    ];
  });
  const account = ids.get('users')!;
  const own = { id: ids.get('webhooks')!, href: `${api.url}/v1/webhooks/${ids.get('webhooks')!}` };
  return { ...own, accountId: account, ...(Object.fromEntries(references) as object) };
}

describe('every route that is not public', () => {
  it('answers 401 without credentials', async () => {
    const before = await rowsOf(owner);
    for (const one of closed) {
      for (const body of bodiesOf(described, one, owner)) {
        const answer = await call(
          one,
          pathWith(one, (place) => owner.ids.get(place)!),
          undefined,
          body,
        );
        expect([nameOf(one), answer.status]).toEqual([nameOf(one), 401]);
        expect(tracesIn(answer.json<{ error: string }>().error, owner)).toEqual([]);
      }
    }
    expect(await rowsOf(owner)).toEqual(before);
  });

  it('answers 401 to a locked account, even for its own resources', async () => {
    const locked = await accountWithEverything(installation, 'the-locked');
    await installation.platform.put('/v1/users/the-locked', { status: 'locked' });
    await eventually(
      () => locked.client.get('/v1/applications'),
      ({ status }) => status === 401,
    );
    const before = await rowsOf(locked);
    let calls = 0;
    for (const one of closed) {
      for (const body of bodiesOf(described, one, locked)) {
        calls += 1;
        const answer = await call(
          one,
          pathWith(one, (place) => locked.ids.get(place)!),
          locked.auth,
          body,
          // A single address would soon have failed too often.
          { 'x-forwarded-for': `192.0.${calls >> 8}.${calls & 255}` },
        );
        expect([nameOf(one), answer.status]).toEqual([nameOf(one), 401]);
      }
    }
    expect(await rowsOf(locked)).toEqual(before);
  });

  it('answers 403 to an account if it is only for the platform', async () => {
    const before = await rowsOf(owner);
    const forPlatform = closed.filter(isForPlatform);
    expect(forPlatform.length).toBeGreaterThan(7);
    for (const one of forPlatform) {
      for (const body of bodiesOf(described, one, owner)) {
        const answer = await call(
          one,
          pathWith(one, (place) => owner.ids.get(place)!),
          owner.auth,
          body,
        );
        expect([nameOf(one), answer.status]).toEqual([nameOf(one), 403]);
        expect(answer.json()).toMatchObject({ code: 'forbidden' });
      }
    }
    expect(await rowsOf(owner)).toEqual(before);
  });
});
