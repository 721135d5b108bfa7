import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createUser } from '../support/accounts.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { type Answer, type Client, clientOf } from '../support/http.js';
import { apiInProcess, type InProcess } from '../support/in-process.js';

const COUNT = 2_345;

let database: TestDatabase;
let api: InProcess;
let many: Client;
let none: Client;

beforeAll(async () => {
  database = await createTestDatabase();
  const [owner, other] = [await createUser(database, 'many'), await createUser(database, 'none')];
  await database.query(
    `INSERT INTO applications (user_id, name, api_type, voice_url, environment_id)
     SELECT $1, 'Application ' || n, 'webapi', 'http://voice.example/' || n, 1
     FROM generate_series(1, $2::int) AS n`,
    [owner.id, COUNT],
  );
  await database.query('UPDATE applications SET deleted_at = now() WHERE id % 100 = 0');
  api = await apiInProcess({ DATABASE_URL: database.url });
  many = clientOf(api.url, owner.auth);
  none = clientOf(api.url, other.auth);
});
afterAll(async () => {
  await api.stop();
  await database.drop();
});

const kept = Array.from({ length: COUNT }, (_, index) => index + 1).filter((id) => id % 100 !== 0);

function idsOf(answer: Answer): number[] {
  expect(answer.status).toBe(200);
  return answer.json<{ id: string }[]>().map(({ id }) => Number(id));
}

describe('the list of applications', () => {
  it('is a bare array of all, in ascending numeric order of id', async () => {
    const answer = await many.get('/v1/applications/');
    expect(answer.headers['content-type']).toBe('application/json; charset=utf-8');
    expect(answer.headers.link).toBeUndefined();
    expect(idsOf(answer)).toEqual(kept);
  });

  it('shows each application as GET shows it', async () => {
    const [first] = (await many.get('/v1/applications?limit=1')).json<object[]>();
    expect(first).toEqual((await many.get('/v1/applications/1')).json());
  });

  it('is empty for an account without applications', async () => {
    expect((await none.get('/v1/applications')).text).toBe('[]');
  });

  it('answers HEAD without a body', async () => {
    const answer = await many.head('/v1/applications');
    expect(answer.status).toBe(200);
    expect(answer.text).toBe('');
  });

  it('continues after a given id', async () => {
    expect(idsOf(await many.get('/v1/applications?after=1000'))).toEqual(
      kept.filter((id) => id > 1000),
    );
    expect((await many.get('/v1/applications?after=9223372036854775807')).text).toBe('[]');
  });

  it('is read in pages through their links', async () => {
    const ids: number[] = [];
    let path: string | undefined = '/v1/applications/?limit=1000';
    while (path !== undefined) {
      const answer: Answer = await many.get(path);
      ids.push(...idsOf(answer));
      const next = /^<(.+)>; rel="next"$/.exec(String(answer.headers.link ?? ''))?.[1];
      expect(next === undefined || next.startsWith(`${api.url}/v1/applications?`)).toBe(true);
      path = next?.slice(api.url.length);
    }
    expect(ids).toEqual(kept);
  });

  it.each([
    'limit=0',
    'limit=1001',
    'limit=-1',
    'limit=ten',
    'limit=',
    'limit=1&limit=2',
    'after=x',
    'after=-1',
    'after=1&after=2',
  ])('refuses ?%s', async (query) => {
    const answer = await many.get(`/v1/applications?${query}`);
    expect(answer.status).toBe(400);
    expect(answer.json()['code']).toBe('validation_failed');
  });

  it('ignores unknown parameters', async () => {
    expect(idsOf(await many.get('/v1/applications?limit=1&x=1&x=2&enabled=maybe'))).toEqual([1]);
  });
});
