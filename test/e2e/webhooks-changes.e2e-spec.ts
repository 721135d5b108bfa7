import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  type DemoAccount,
  faultsOf,
  minimalSubscription,
  startDemoAccount,
} from '../support/demo-account.js';

let demo: DemoAccount;
let application: string;

beforeAll(async () => {
  demo = await startDemoAccount();
  application = await demo.anApplication();
});
afterAll(() => demo.stop());

describe('an update', () => {
  it('changes the given fields and leaves the others', async () => {
    const path = await demo.aSubscription({ name: 'label', payload: { a: 1 } });
    const before = await demo.shown(path);
    const answer = await demo.client.put(path, {
      event: 'smsdlr',
      resource: 'sms, call',
      enabled: false,
    });
    expect(answer.status).toBe(200);
    expect(answer.json()).toEqual({ href: demo.api.url + path });
    const { updatedAt: changedAt, ...after } = await demo.shown(path);
    // A subscription that is disabled has no health.
    const { updatedAt, health, ...unchanged } = before;
    const changes = { event: 'smsdlr', resource: 'sms,call', enabled: false };
    expect(after).toEqual({ ...unchanged, ...changes });
    expect(changedAt).not.toBe(updatedAt);
    expect(health).toBeDefined();
  });

  it('changes nothing with {} or with the whole fetched resource', async () => {
    const path = await demo.aSubscription({
      name: 'label',
      payload: { a: 1 },
      resource: 'sms,call',
    });
    const before = await demo.client.get(path);
    for (const body of [{}, before.text])
      expect((await demo.client.put(path, body)).status).toBe(200);
    const after = await demo.client.get(path);
    expect(after.text).toBe(before.text);
    expect(after.headers.etag).toBe(before.headers.etag);
  });

  it.each([
    [{ event: null }, 'event type'],
    [{ resource: null }, 'resource type'],
    [{ targetUrl: null }, 'targetUrl type'],
    [{ enabled: null }, 'enabled type'],
    [{ event: '' }, 'event choice'],
    [{ name: '' }, 'name length'],
    [{ payload: [1] }, 'payload type'],
  ])('is refused with %j', async (body, fault) => {
    expect(faultsOf(await demo.client.put(await demo.aSubscription(), body))).toEqual([fault]);
  });

  it('clears the label with null', async () => {
    const path = await demo.aSubscription({ name: 'label' });
    await demo.client.put(path, { name: null });
    expect(await demo.shown(path)).not.toHaveProperty('name');
  });

  it('never moves a subscription to another level', async () => {
    const path = await demo.aSubscription();
    await demo.client.put(path, { applicationId: application.split('/').at(-1) });
    expect(await demo.shown(path)).not.toHaveProperty('applicationId');
  });
});

describe('If-Match', () => {
  it('allows only a change or deletion of the current version', async () => {
    const path = await demo.aSubscription();
    const { etag } = (await demo.client.get(path)).headers;
    const old = { headers: { 'if-match': etag! } };
    expect((await demo.client.put(path, { name: 'x' }, old)).status).toBe(200);
    const refusals = [await demo.client.put(path, {}, old), await demo.client.delete(path, old)];
    for (const refusal of refusals) {
      expect(refusal.status).toBe(412);
      expect(refusal.json()['code']).toBe('precondition_failed');
    }
    const present = { headers: { 'if-match': (await demo.client.get(path)).headers.etag! } };
    expect((await demo.client.delete(path, present)).status).toBe(200);
  });
});

describe('a deletion', () => {
  it('answers with its message, and the subscription is gone', async () => {
    const path = await demo.aSubscription();
    const answer = await demo.client.delete(path);
    expect(answer.status).toBe(200);
    expect(answer.json()).toEqual({ message: 'delete successful' });
    const gone = [
      await demo.client.get(path),
      await demo.client.put(path, {}),
      await demo.client.delete(path),
      await demo.client.get(`${path}/secret`),
      await demo.client.post(`${path}/secret/rotate`),
    ];
    expect(gone.map(({ status }) => status)).toEqual([404, 404, 404, 404, 404]);
    expect((await demo.client.get('/v1/webhooks')).text).toBe('[]');
  });

  it('removes the payload, the filter, the headers and the credentials of the target', async () => {
    const path = await demo.aSubscription({
      targetUrl: 'https://user:password@t.example/',
      payload: { a: 1 },
      filter: { a: 1 },
      headers: { 'X-Key': 'k' },
    });
    const kept = () =>
      demo.database.query(
        `SELECT payload IS NOT NULL AS payload, filter IS NOT NULL AS filter, headers IS NOT NULL AS headers,
           userinfo IS NOT NULL AS userinfo FROM webhooks WHERE id = $1`,
        [path.split('/').at(-1)],
      );
    expect(await kept()).toEqual([{ payload: true, filter: true, headers: true, userinfo: true }]);
    await demo.client.delete(path);
    expect(await kept()).toEqual([
      { payload: false, filter: false, headers: false, userinfo: false },
    ]);
  });

  it('of an application deletes its subscriptions as well', async () => {
    const created = await demo.client.post('/v1/applications', {
      name: 'b',
      voiceUrl: 'http://v/',
    });
    const own = new URL(created.json<{ href: string }>().href).pathname;
    const path = await demo.aSubscription({}, `${own}/webhooks`);
    expect((await demo.client.delete(own)).status).toBe(200);
    expect((await demo.client.get(path)).status).toBe(404);
    expect((await demo.client.get(`${own}/webhooks`)).status).toBe(404);
    expect((await demo.client.post(`${own}/webhooks`, minimalSubscription)).status).toBe(404);
  });
});

describe('a subscription that the service disabled', () => {
  it('shows why and since when it is disabled, until it is enabled', async () => {
    const path = await demo.aSubscription();
    await demo.database.query(
      `UPDATE webhooks SET enabled = false, disabled_reason = 'gone', disabled_at = now()
       WHERE id = $1`,
      [path.split('/').at(-1)],
    );
    const subscription = await demo.shown(path);
    expect(subscription).toMatchObject({ enabled: false, disabledReason: 'gone' });
    expect(subscription['disabledAt']).toMatch(/Z$/);
    await demo.client.put(path, subscription);
    expect(await demo.shown(path)).toEqual(subscription);
    await demo.client.put(path, { ...subscription, enabled: true });
    expect(await demo.shown(path)).not.toHaveProperty('disabledReason');
    expect(await demo.shown(path)).not.toHaveProperty('disabledAt');
  });
});

describe('an unknown subscription', () => {
  it.each(['999999999', '0', '-1', '+1', '01', 'abc', '9223372036854775808'])(
    'with the id %s is answered with 404',
    async (id) => {
      for (const path of [`/v1/webhooks/${id}`, `${application}/webhooks/${id}`]) {
        expect((await demo.client.get(path)).status).toBe(404);
        expect((await demo.client.put(path, {})).status).toBe(404);
        expect((await demo.client.delete(path)).status).toBe(404);
      }
    },
  );

  it('is reported only after every fault of the request itself', async () => {
    expect((await demo.client.put('/v1/webhooks/abc', { event: 'x' })).status).toBe(400);
    expect((await demo.client.post('/v1/applications/abc/webhooks', {})).status).toBe(400);
    expect(
      (await demo.client.post('/v1/applications/abc/webhooks', minimalSubscription)).status,
    ).toBe(404);
    expect((await demo.client.get('/v1/applications/abc/webhooks?enabled=x')).status).toBe(400);
    expect((await demo.client.get('/v1/applications/abc/webhooks')).status).toBe(404);
  });

  it.each(['/v1/webhooks/1', '/v1/applications/1/webhooks/1', '/v1/webhooks/1/secret'])(
    'is answered with 405 at %s if the method is not supported there',
    async (path) => {
      const answer = await demo.client.post(path, {});
      expect(answer.status).toBe(405);
      expect(answer.headers.allow).toContain('GET');
    },
  );
});
