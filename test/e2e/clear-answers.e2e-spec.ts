import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createUser } from '../support/accounts.js';
import { type DemoAccount, faultsOf, startDemoAccount } from '../support/demo-account.js';
import { type Client, clientOf } from '../support/http.js';

const STRICT = { headers: { prefer: 'respond-async, handling=strict' } };

let demo: DemoAccount;
let platform: Client;

beforeAll(async () => {
  demo = await startDemoAccount();
  platform = clientOf(demo.api.url, (await createUser(demo.database, 'switch', 'platform')).auth);
});
afterAll(() => demo.stop());

describe('Prefer: handling=strict', () => {
  it('refuses an unknown member, and names the one that was meant', async () => {
    const path = await demo.aSubscription();
    const lenient = await demo.client.put(path, { enable: false });
    expect([lenient.status, lenient.headers['preference-applied']]).toEqual([200, undefined]);
    const strict = await demo.client.put(path, { enable: false }, STRICT);
    expect(strict.headers['preference-applied']).toBe('handling=strict');
    expect(faultsOf(strict)).toEqual(['enable not_allowed']);
    expect(strict.json()).toMatchObject({
      error: 'enable is not known here (did you mean enabled?).',
    });
    const known = await demo.client.put(path, { enabled: false }, STRICT);
    expect([known.status, known.headers['preference-applied']]).toEqual([200, 'handling=strict']);
  });

  it('lists unknown members beside all other faults, nested ones by a pointer', async () => {
    const path = await demo.aSubscription();
    const body = { name: 1, retry: { timeoutMs: 2_000, 'shed/ule': [] }, entirelyDifferent: 1 };
    const answer = await demo.client.put(path, body, STRICT);
    expect(faultsOf(answer)).toEqual([
      '/retry/shed~1ule not_allowed',
      'entirelyDifferent not_allowed',
      'name type',
    ]);
    expect(answer.text).toContain('/retry/shed~1ule is not known here (did you mean schedule?).');
    expect(answer.text).toContain('entirelyDifferent is not known here.');
  });

  it('refuses read-only members, but nothing inside free-form data', async () => {
    const path = await demo.aSubscription();
    const whole = await demo.shown(path);
    expect((await demo.client.put(path, whole)).status).toBe(200);
    expect(faultsOf(await demo.client.put(path, whole, STRICT))).toContain('href not_allowed');
    const free = { payload: { any: { thing: 1 } }, headers: { 'X-Any': 'a' } };
    expect((await demo.client.put(path, free, STRICT)).status).toBe(200);
  });

  it('refuses unknown members of events, and only the faulty event of a batch', async () => {
    const event = { event: 'smsdlr', resource: 'sms', accountId: demo.id, data: { any: 1 } };
    const single = await platform.post('/v1/events', { ...event, ocurredAt: 'x' }, STRICT);
    expect(faultsOf(single)).toEqual(['ocurredAt not_allowed']);
    const events = [{ ...event, ocurredAt: 'x' }, event];
    const batch = await platform.post('/v1/events/batch', { events }, STRICT);
    expect(batch.json()).toMatchObject({
      results: [
        { errors: [{ field: '/events/0/ocurredAt', code: 'not_allowed' }] },
        { deliveries: expect.any(Number) as number },
      ],
    });
    const outer = await platform.post('/v1/events/batch', { events: [event], evnts: [] }, STRICT);
    expect(faultsOf(outer)).toEqual(['evnts not_allowed']);
    expect((await platform.post('/v1/events', event, STRICT)).status).toBe(202);
  });

  it('refuses unknown parameters of lists', async () => {
    expect((await demo.client.get('/v1/webhooks?enable=true')).status).toBe(200);
    const answer = await demo.client.get('/v1/webhooks?enable=true&limit=1', STRICT);
    expect(faultsOf(answer)).toEqual(['enable not_allowed']);
    expect(answer.text).toContain('did you mean enabled?');
    expect((await demo.client.get('/v1/webhooks?enabled=true', STRICT)).status).toBe(200);
  });

  it.each([
    [
      '/v1/deliveries?state=failed',
      'state choice',
      'pending, parked, succeeded, exhausted, cancelled',
    ],
    ['/v1/deliveries?status=foo', 'status choice', 'a class such as 5xx, or one of dns, refused,'],
    ['/v1/deliveries?status=600', 'status choice', 'a status such as 404'],
    ['/v1/deliveries?webhookId=x', 'webhookId format', 'an id'],
    ['/v1/events?event=cdr', 'event choice', 'one of smsdlr, cdrCreated, cdrRated'],
    ['/v1/events?resource=fax', 'resource choice', 'one of call, sms, transcription, all'],
    ['/v1/webhooks?event=cdr', 'event choice', 'one of smsdlr, cdrCreated, cdrRated'],
    ['/v1/webhooks?resource=fax', 'resource choice', 'one of call, sms, transcription, all'],
  ])(
    'refuses a filter that can find nothing, and says what it may be: %s',
    async (path, fault, says) => {
      const lenient = await demo.client.get(path);
      expect([lenient.status, lenient.json()]).toEqual([200, []]);
      const strict = await demo.client.get(path, STRICT);
      expect([strict.status, faultsOf(strict)]).toEqual([400, [fault]]);
      expect(strict.json()['error']).toContain(says);
    },
  );

  it('accepts every filter that can find something', async () => {
    for (const path of [
      '/v1/deliveries?state=parked&event=cdrRated&status=timeout&webhookId=7',
      '/v1/deliveries?status=404',
      '/v1/deliveries?status=5xx',
      '/v1/events?event=smsdlr&resource=sms&applicationId=7&producerId=anything',
      '/v1/webhooks?event=smsdlr&resource=all',
    ]) {
      expect((await demo.client.get(path, STRICT)).status).toBe(200);
    }
  });

  it('answers shortly however many and long the unknown names are', async () => {
    const path = await demo.aSubscription();
    const names = Array.from({ length: 2_000 }, (_, n) => `${n}${'x'.repeat(100)}`);
    const body = Object.fromEntries(names.map((name) => [name, 1]));
    const answer = await demo.client.put(path, body, STRICT);
    expect(answer.status).toBe(400);
    expect(answer.json<{ errors: object[] }>().errors).toHaveLength(20);
    expect(answer.text.length).toBeLessThan(16_384);
  });
});

it('says whether credentials were missing or not valid', async () => {
  const { url } = demo.api;
  const refusalOf = async (auth?: string) => {
    const answer = await clientOf(url, auth).get('/v1/applications');
    return [answer.status, answer.json()['error']];
  };
  const invalid = [401, 'The credentials are not valid.'];
  expect(await refusalOf()).toEqual([401, 'Credentials are required (HTTP Basic).']);
  expect(await refusalOf('demo:wrong')).toEqual(invalid);
  expect(await refusalOf('nobody:wrong')).toEqual(invalid);
});

it('names the path below /v1 that was meant', async () => {
  const { url } = demo.api;
  const answer = await clientOf(url).get('/applications/7?secret=hidden');
  expect([answer.status, answer.json()['error']]).toEqual([
    404,
    'There is no such path (did you mean /v1/applications/7?).',
  ]);
  expect((await clientOf(url).get('/nothing')).json()['error']).toBe('There is no such path.');
});

describe.each([
  ['an application', '/v1/applications', { name: 'Shop', voiceUrl: 'https://a.example/' }],
  [
    'a subscription',
    '/v1/webhooks',
    { event: 'smsdlr', resource: 'all', targetUrl: 'https://a.example/' },
  ],
] as const)('%s', (_, collection, body) => {
  it('has its version in the answers to POST and PUT', async () => {
    const key = { headers: { 'idempotency-key': `version-${collection}` } };
    const made = await demo.client.post(collection, body, key);
    expect((await demo.client.post(collection, body, key)).headers).not.toHaveProperty('etag');
    const { pathname: path } = new URL(made.headers.location ?? '');
    const shown = async () => (await demo.client.get(path)).headers.etag;
    expect([made.headers.etag, await shown()]).toEqual(['"1"', '"1"']);
    const matching = { headers: { 'if-match': made.headers.etag! } };
    const changed = await demo.client.put(path, { name: 'Other' }, matching);
    expect([changed.headers.etag, await shown()]).toEqual(['"2"', '"2"']);
    const same = await demo.client.put(path, { name: 'Other' });
    expect([same.headers.etag, await shown()]).toEqual(['"2"', '"2"']);
    const more =
      collection === '/v1/webhooks' ? { signature: 'ed25519', name: 'A' } : { name: 'A' };
    const last = await demo.client.put(path, more);
    expect([last.headers.etag, await shown()]).toEqual(['"3"', '"3"']);
    if (collection !== '/v1/webhooks') return;
    const paused = await demo.client.post(`${path}/pause`);
    expect([paused.headers.etag, await shown()]).toEqual(['"4"', '"4"']);
  });
});

it('has the id beside the address of a new user, credential and environment', async () => {
  for (const [path, body] of [
    ['/v1/users', { username: 'someone' }],
    ['/v1/users/demo/credentials', {}],
    ['/v1/environments', { name: 'Tests', type: 'special', billable: false }],
  ] as const) {
    const made = (await platform.post(path, body)).json<{ href: string; id: unknown }>();
    expect(made.href.split('/').at(-1)).toBe(String(made.id));
    const shown = (await platform.get(new URL(made.href).pathname)).json<{ id: unknown }>();
    if ('id' in shown) expect(made.id).toBe(shown.id);
  }
  const changed = await platform.put('/v1/users/someone', { status: 'locked' });
  expect(changed.json()['id']).toBe((await platform.get('/v1/users/someone')).json()['id']);
});
