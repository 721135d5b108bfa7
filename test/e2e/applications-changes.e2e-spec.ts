import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createUser } from '../support/accounts.js';
import { type DemoAccount, faultsOf, startDemoAccount } from '../support/demo-account.js';
import { clientOf } from '../support/http.js';
import { expectProblem } from '../support/problem.js';

let demo: DemoAccount;

beforeAll(async () => {
  demo = await startDemoAccount();
});
afterAll(() => demo.stop());

describe('an update', () => {
  it('changes the given fields and leaves the others', async () => {
    const path = await demo.anApplication({ environment: 2 });
    const before = await demo.shown(path);
    const answer = await demo.client.put(path, {
      messagingUrl: 'http://m.example/',
      platform: 'WEBAPI',
    });
    expect(answer.status).toBe(200);
    expect(answer.json()).toEqual({ href: demo.api.url + path });
    const { updatedAt: changedAt, ...after } = await demo.shown(path);
    const { updatedAt, ...unchanged } = before;
    expect(after).toEqual({
      ...unchanged,
      messagingUrl: 'http://m.example/',
      platform: 'webapi',
      apiType: 'webapi',
    });
    expect(changedAt).not.toBe(updatedAt);
  });

  it('changes nothing with {} or with the whole fetched resource', async () => {
    const path = await demo.anApplication({ messagingUrl: 'http://m/', apiType: 'webapi' });
    const before = await demo.client.get(path);
    for (const body of [{}, before.json()]) {
      expect((await demo.client.put(path, body)).status).toBe(200);
    }
    const after = await demo.client.get(path);
    expect(after.text).toBe(before.text);
    expect(after.headers.etag).toBe(before.headers.etag);
  });

  it.each([
    { platform: 'webapi', apiType: 'scripting' },
    { platform: 'scripting', apiType: 'webapi' },
  ])('accepts the type that differs from the stored one: %j', async (types) => {
    const path = await demo.anApplication();
    await demo.client.put(path, { ...(await demo.shown(path)), ...types });
    expect(await demo.shown(path)).toMatchObject({ apiType: 'webapi', platform: 'webapi' });
  });

  it('clears a URL with null unless it is the last one', async () => {
    const path = await demo.anApplication({ messagingUrl: 'http://m/' });
    expect((await demo.client.put(path, { voiceUrl: null })).status).toBe(200);
    expect(await demo.shown(path)).not.toHaveProperty('voiceUrl');
    expect(faultsOf(await demo.client.put(path, { messagingUrl: null }))).toEqual([
      'voiceUrl required',
    ]);
    expect(
      (await demo.client.put(path, { messagingUrl: null, voiceUrl: 'http://v/' })).status,
    ).toBe(200);
  });

  it.each([
    [{ name: null }, 'name type'],
    [{ apiType: null }, 'apiType type'],
    [{ platform: null }, 'platform type'],
    [{ environment: null }, 'environment type'],
    [{ name: '' }, 'name length'],
    [{ environment: 999 }, 'environment unknown_reference'],
    [{ voiceUrl: '' }, 'voiceUrl length'],
  ])('is refused with %j', async (body, fault) => {
    expect(faultsOf(await demo.client.put(await demo.anApplication(), body))).toEqual([fault]);
  });
});

describe('If-Match', () => {
  it('allows only a change or deletion of the current version', async () => {
    const path = await demo.anApplication();
    const { etag } = (await demo.client.get(path)).headers;
    expect(etag).toMatch(/^"[^"]+"$/);
    const old = { headers: { 'if-match': etag! } };
    expect((await demo.client.put(path, { name: 'Exchange' }, old)).status).toBe(200);
    expect((await demo.client.put(path, { name: 'Third' }, old)).status).toBe(412);
    const refusal = await demo.client.delete(path, old);
    expect(refusal.status).toBe(412);
    expect(refusal.json()['code']).toBe('precondition_failed');
    expect(await demo.shown(path)).toMatchObject({ name: 'Exchange' });
    const present = { headers: { 'if-match': (await demo.client.get(path)).headers.etag! } };
    expect((await demo.client.delete(path, present)).status).toBe(200);
  });

  it('is checked after 404 and before rules that depend on the stored resource', async () => {
    const wrong = { headers: { 'if-match': '"no"' } };
    const path = await demo.anApplication();
    expect((await demo.client.put('/v1/applications/999999', {}, wrong)).status).toBe(404);
    expect((await demo.client.put(path, { environment: 999 }, wrong)).status).toBe(412);
    expect((await demo.client.put(path, { environment: {} }, wrong)).status).toBe(400);
  });

  it('lets exactly one of many concurrent updates through', async () => {
    const path = await demo.anApplication();
    const { etag } = (await demo.client.get(path)).headers;
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, index) =>
        demo.client.put(path, { name: `name ${index}` }, { headers: { 'if-match': etag! } }),
      ),
    );
    const statuses = answers.map(({ status }) => status).sort();
    expect(statuses).toEqual([200, ...Array<number>(9).fill(412)]);
  });
});

describe('If-None-Match', () => {
  const absent = { headers: { 'if-none-match': '*' } };
  const present = { status: 412, code: 'precondition_failed' };

  it('is ignored by reads', async () => {
    const path = await demo.anApplication();
    const { etag } = (await demo.client.get(path)).headers;
    for (const tag of [etag!, '*']) {
      const answer = await demo.client.get(path, { headers: { 'if-none-match': tag } });
      expect(answer.status).toBe(200);
    }
  });

  it('with * refuses to change or delete an existing application', async () => {
    const application = await demo.anApplication();
    const webhook = await demo.aSubscription();
    for (const path of [application, webhook]) {
      expectProblem(await demo.client.put(path, {}, absent), present);
      expectProblem(await demo.client.delete(path, absent), present);
      expect((await demo.client.get(path)).status).toBe(200);
    }
    const missing = { status: 404, code: 'not_found' };
    expectProblem(
      await demo.client.put('/v1/applications/999999999', { name: 'x' }, absent),
      missing,
    );
    expectProblem(await demo.client.delete('/v1/webhooks/999999999', absent), missing);
    const tagged = { headers: { 'if-none-match': '"1"' } };
    expect((await demo.client.put(application, { name: 'x' }, tagged)).status).toBe(200);
  });

  it('with * refuses to change an existing user or delete an existing credential', async () => {
    const { auth } = await createUser(demo.database, 'switch', 'platform');
    const platform = clientOf(demo.api.url, auth);
    expectProblem(await platform.put('/v1/users/demo', { status: 'locked' }, absent), present);
    const { credentials } = (await platform.get('/v1/users/demo')).json<{
      credentials: { id: string }[];
    }>();
    const path = `/v1/users/demo/credentials/${credentials[0]!.id}`;
    expectProblem(await platform.delete(path, absent), present);
    expect((await demo.client.get('/v1/applications')).status).toBe(200);
  });
});

describe('a deletion', () => {
  it('answers with its message, and the application is gone', async () => {
    const path = await demo.anApplication();
    const answer = await demo.client.delete(`${path}/`);
    expect(answer.status).toBe(200);
    expect(answer.json()).toEqual({ message: 'delete successful' });
    for (const gone of [
      await demo.client.get(path),
      await demo.client.put(path, {}),
      await demo.client.delete(path),
    ]) {
      expect(gone.status).toBe(404);
      expect(gone.json()['code']).toBe('not_found');
    }
    const listed = (await demo.client.get('/v1/applications')).json<{ href: string }[]>();
    expect(listed.map(({ href }) => href)).not.toContain(demo.api.url + path);
  });
});

describe('an unknown application', () => {
  it.each(['999999999', '0', '-1', '+1', '01', '1.0', 'abc', '9223372036854775808', '%31x'])(
    'with the id %s is answered with 404',
    async (id) => {
      const path = `/v1/applications/${id}`;
      expect((await demo.client.get(path)).status).toBe(404);
      expect((await demo.client.put(path, {})).status).toBe(404);
      expect((await demo.client.delete(path)).status).toBe(404);
    },
  );

  it('is reported only after every fault of the request itself', async () => {
    const path = '/v1/applications/abc';
    expect((await demo.client.put(path, { name: '' })).status).toBe(400);
    expect((await demo.client.put(path, '{', {})).status).toBe(400);
    const text = { headers: { 'content-type': 'text/plain' } };
    expect((await demo.client.put(path, '{}', text)).status).toBe(415);
    expect((await demo.client.post(path, {})).status).toBe(405);
  });
});
