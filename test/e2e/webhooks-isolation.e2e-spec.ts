import { afterAll, beforeAll, expect, it } from 'vitest';
import { createUser } from '../support/accounts.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { type Answer, type Client, clientOf } from '../support/http.js';
import { apiInProcess, type InProcess } from '../support/in-process.js';

let database: TestDatabase;
let api: InProcess;
let owner: Client;
let strangers: Client[];

/** The paths of the owner's resources. */
let application: string;
let otherApplication: string;
let accountLevel: string;
let ofApplication: string;
let idOf: (path: string) => string;

const subscription = { event: 'cdrRated', resource: 'all', targetUrl: 'https://target.example/' };

beforeAll(async () => {
  database = await createTestDatabase();
  const [user, stranger, platform] = [
    await createUser(database, 'owner'),
    await createUser(database, 'stranger'),
    await createUser(database, 'switch', 'platform'),
  ];
  api = await apiInProcess({ DATABASE_URL: database.url });
  owner = clientOf(api.url, user.auth);
  // A platform user does not see other users' applications and subscriptions either.
  strangers = [clientOf(api.url, stranger.auth), clientOf(api.url, platform.auth)];
  const create = async (path: string, body: object): Promise<string> => {
    const answer = await owner.post(path, body);
    return new URL(answer.json<{ href: string }>().href).pathname;
  };
  application = await create('/v1/applications', { name: 'a', voiceUrl: 'http://v/' });
  otherApplication = await create('/v1/applications', { name: 'b', voiceUrl: 'http://v/' });
  accountLevel = await create('/v1/webhooks', subscription);
  ofApplication = await create(`${application}/webhooks`, subscription);
  idOf = (path) => path.split('/').at(-1) ?? '';
});
afterAll(async () => {
  await api.stop();
  await database.drop();
});

/** The answer without the parts that differ for each request. */
function outline(answer: Answer): object {
  const { requestId, instance, ...problem } = answer.json();
  expect([typeof requestId, typeof instance]).toEqual(['string', 'string']);
  return problem;
}

it("answers for another account's resource as for an unknown one, on every route", async () => {
  const routes: ['get' | 'put' | 'post' | 'delete', (path: string) => string, object?][] = [
    ['get', (id) => `/v1/applications/${id}`],
    ['put', (id) => `/v1/applications/${id}`, { name: 'stolen' }],
    ['delete', (id) => `/v1/applications/${id}`],
    ['get', (id) => `/v1/applications/${id}/webhooks`],
    ['post', (id) => `/v1/applications/${id}/webhooks`, subscription],
  ];
  const below: typeof routes = [
    ['get', (id) => `/v1/webhooks/${id}`],
    ['put', (id) => `/v1/webhooks/${id}`, { name: 'stolen' }],
    ['delete', (id) => `/v1/webhooks/${id}`],
    ['get', (id) => `/v1/webhooks/${id}/secret`],
    ['post', (id) => `/v1/webhooks/${id}/secret/rotate`],
    ['get', (id) => `${application}/webhooks/${id}`],
    ['put', (id) => `${application}/webhooks/${id}`, { name: 'stolen' }],
    ['delete', (id) => `${application}/webhooks/${id}`],
  ];
  const before = [await owner.get(application), await owner.get(ofApplication)];
  const secret = (await owner.get(`${ofApplication}/secret`)).text;
  for (const stranger of strangers) {
    for (const [list, id] of [
      [routes, idOf(application)],
      [below, idOf(ofApplication)],
      [below, idOf(accountLevel)],
    ] as const) {
      for (const [method, path, body] of list) {
        const answer = await stranger[method](path(id), body);
        const unknown = await stranger[method](path('999999'), body);
        expect([path(id), answer.status]).toEqual([path(id), 404]);
        expect(outline(answer)).toEqual(outline(unknown));
      }
    }
  }
  expect((await owner.get(application)).text).toBe(before[0]!.text);
  expect((await owner.get(ofApplication)).text).toBe(before[1]!.text);
  expect((await owner.get(`${ofApplication}/secret`)).text).toBe(secret);
});

it('lists nothing of another account', async () => {
  for (const stranger of strangers) {
    for (const path of ['/v1/applications', '/v1/webhooks', '/v1/webhooks?scope=all']) {
      expect((await stranger.get(path)).text).toBe('[]');
    }
  }
});

it('finds a subscription below its own application only', async () => {
  const own = `${application}/webhooks/${idOf(ofApplication)}`;
  expect((await owner.get(own)).status).toBe(200);
  for (const elsewhere of [
    `${otherApplication}/webhooks/${idOf(ofApplication)}`,
    `${application}/webhooks/${idOf(accountLevel)}`,
  ]) {
    expect((await owner.get(elsewhere)).status).toBe(404);
    expect((await owner.put(elsewhere, { name: 'x' })).status).toBe(404);
    expect((await owner.delete(elsewhere)).status).toBe(404);
  }
  expect((await owner.get(own)).json()).not.toHaveProperty('name');
});

it('reads and changes one subscription at both of its addresses', async () => {
  const below = `${application}/webhooks/${idOf(ofApplication)}`;
  expect((await owner.put(below, { name: 'below' })).json()).toEqual({
    href: api.url + ofApplication,
  });
  expect((await owner.put(`${ofApplication}/`, { resource: 'sms' })).status).toBe(200);
  const answers = [await owner.get(`${below}/`), await owner.get(ofApplication)];
  expect(answers[0]!.text).toBe(answers[1]!.text);
  expect(answers[0]!.headers.etag).toBe(answers[1]!.headers.etag);
  expect(answers[0]!.json()).toMatchObject({ name: 'below', resource: 'sms' });
});

it('deletes a subscription at the address below its application', async () => {
  const created = await owner.post(`${application}/webhooks`, subscription);
  const { href } = created.json<{ href: string }>();
  const below = `${application}/webhooks/${idOf(href)}`;
  expect((await owner.delete(below)).json()).toEqual({ message: 'delete successful' });
  expect((await owner.get(new URL(href).pathname)).status).toBe(404);
});
