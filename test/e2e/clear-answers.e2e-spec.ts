import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createUser } from '../support/accounts.js';
import {
  type DemoAccount,
  faultsOf,
  minimalSubscription,
  startDemoAccount,
} from '../support/demo-account.js';
import { type Client, clientOf, request } from '../support/http.js';

const STRICT = { headers: { prefer: 'respond-async, handling=strict' } };

let demo: DemoAccount;
let platform: Client;

beforeAll(async () => {
  demo = await startDemoAccount();
  platform = clientOf(demo.api.url, (await createUser(demo.database, 'switch', 'platform')).auth);
});
afterAll(() => demo.stop());

describe('Prefer: handling=strict', () => {
  it('refuses an unknown member, and suggests the right name', async () => {
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

  it('lists unknown members with all other faults, nested ones by a pointer', async () => {
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
    ['/v1/audit?accountId=x', 'accountId format', 'an id'],
    ['/v1/events?event=cdr', 'event choice', 'one of smsdlr, cdrCreated, cdrRated'],
    ['/v1/events?resource=fax', 'resource choice', 'one of call, sms, transcription, all'],
    ['/v1/webhooks?event=cdr', 'event choice', 'one of smsdlr, cdrCreated, cdrRated'],
    ['/v1/webhooks?resource=fax', 'resource choice', 'one of call, sms, transcription, all'],
  ])(
    'refuses a filter that cannot match, and lists the allowed values: %s',
    async (path, fault, says) => {
      const lenient = await demo.client.get(path);
      expect([lenient.status, lenient.json()]).toEqual([200, []]);
      const strict = await demo.client.get(path, STRICT);
      expect([strict.status, faultsOf(strict)]).toEqual([400, [fault]]);
      expect(strict.json()['error']).toContain(says);
    },
  );

  it('accepts every filter that can match', async () => {
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

  it('answers briefly, however many and long the unknown names are', async () => {
    const path = await demo.aSubscription();
    const names = Array.from({ length: 2_000 }, (_, n) => `${n}${'x'.repeat(100)}`);
    const body = Object.fromEntries(names.map((name) => [name, 1]));
    const answer = await demo.client.put(path, body, STRICT);
    expect(answer.status).toBe(400);
    expect(answer.json<{ errors: object[] }>().errors).toHaveLength(20);
    expect(answer.text.length).toBeLessThan(16_384);
  });
});

it('tells whether credentials were missing or invalid', async () => {
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

describe('a refusal names the fault of the request', () => {
  const event = { event: 'smsdlr', resource: 'sms', accountId: '1', data: {} };
  const inUtf16 = Buffer.from('{"name": "x"}', 'utf16le');
  const bom = Buffer.from([0xff, 0xfe]);
  const bomb = gzipSync(JSON.stringify({ name: 'x'.repeat(300_000) }));

  it.each<
    [what: string, status: number, says: string, path: string, body?: unknown, headers?: object]
  >([
    [
      'a batch at the route of one event',
      400,
      'events is not a member of an event (POST /v1/events/batch takes several events).',
      '/v1/events',
      { events: [event] },
    ],
    [
      'one event at the route of a batch',
      400,
      'events is required (POST /v1/events takes a single event).',
      '/v1/events/batch',
      event,
    ],
    ['no body', 400, 'The body is missing: it must be a JSON object.', '/v1/applications'],
    [
      'an empty body',
      400,
      'The body is missing: it must be a JSON object.',
      '/v1/applications',
      '',
    ],
    ['JSON in JSON', 400, 'The body must be a JSON object.', '/v1/applications', '"{}"'],
    [
      'UTF-16',
      400,
      'The body is not valid JSON (at byte offset 1; UTF-16 is not accepted).',
      '/v1/applications',
      inUtf16,
    ],
    [
      'UTF-16, big-endian',
      400,
      'The body is not valid JSON (at byte offset 0; UTF-16 is not accepted).',
      '/v1/applications',
      Buffer.from(inUtf16).swap16(),
    ],
    [
      'UTF-16 with a mark',
      400,
      'The body is not valid UTF-8.',
      '/v1/applications',
      Buffer.concat([bom, inUtf16]),
    ],
    [
      'a trailing comma',
      400,
      'The body is not valid JSON (at byte offset 12).',
      '/v1/applications',
      '{"name":"x",}',
    ],
    [
      'single quotes',
      400,
      'The body is not valid JSON (at byte offset 1).',
      '/v1/applications',
      "{'name':'x'}",
    ],
    [
      'ISO 8859-1',
      400,
      'The body is not valid UTF-8.',
      '/v1/applications',
      Buffer.from('{"name":"ä"}', 'latin1'),
      { 'content-type': 'application/json; charset=iso-8859-1' },
    ],
    [
      'a form',
      415,
      'The header Content-Type must be application/json.',
      '/v1/applications',
      'name=x',
      { 'content-type': 'application/x-www-form-urlencoded' },
    ],
    [
      'text/json',
      415,
      'The header Content-Type must be application/json.',
      '/v1/applications',
      '{}',
      { 'content-type': 'text/json' },
    ],
    [
      'a short body that decompresses to a long one',
      413,
      'The body must have at most 262144 bytes after decompression.',
      '/v1/applications',
      bomb,
      { 'content-encoding': 'gzip' },
    ],
    [
      'a URL with a port that does not exist',
      400,
      'targetUrl must be an absolute http or https URL with a valid host and port, and without whitespace.',
      '/v1/webhooks',
      { ...minimalSubscription, targetUrl: 'https://a.example:99999/' },
    ],
  ])('%s', async (_, status, says, path, body, headers = {}) => {
    const answer = await platform.post(path, body, { headers: headers as Record<string, string> });
    expect([answer.status, answer.json()['error']]).toEqual([status, says]);
  });

  it.each([
    'Bearer abc',
    'demo:secret',
    'ZGVtbzpzZWNyZXQ=',
    'Basic demo:secret',
    'Basic ZGVtbw==',
    'Basic',
  ])('the header "Authorization: %s"', async (authorization) => {
    const answer = await clientOf(demo.api.url).get('/v1/webhooks', { headers: { authorization } });
    expect([answer.status, answer.json()['error']]).toEqual([
      401,
      'The header Authorization must be Basic, a space and the Base64 of username:password.',
    ]);
  });

  it.each([
    ['W/"1"', 'If-Match has a weak tag, which never matches: '],
    ['"1-gzip"', 'If-Match has a tag that no version has: '],
    ['1', 'If-Match must have tags in quotes: '],
    ['"7"', 'The resource has changed since the version that If-Match names.'],
  ])('If-Match: %s', async (tag, says) => {
    const path = await demo.aSubscription();
    const call = { headers: { 'if-match': tag } };
    for (const answer of [
      await demo.client.put(path, { name: 'x' }, call),
      await demo.client.delete(path, call),
    ]) {
      expect([answer.status, answer.json()['code']]).toEqual([412, 'precondition_failed']);
      expect(answer.json()['error']).toContain(says);
    }
  });

  it('a target that is too long', async () => {
    // The parser refuses it before any route, so the description does not have this answer.
    const url = `${demo.api.url}/v1/webhooks?event=${'x'.repeat(20_000)}`;
    const answer = await request('GET', url, {});
    expect([answer.status, answer.json()['error']]).toEqual([
      400,
      'The target and the headers of the request must have at most 16384 bytes in all.',
    ]);
  });
});

it.each(['/v1/events', '/v1/deliveries', '/v1/webhooks/{id}/deliveries', '/v1/stats', '/v1/audit'])(
  '%s takes a time whose plus was not escaped',
  async (path) => {
    const id = (await demo.aSubscription()).split('/').at(-1)!;
    const query = 'since=2026-01-31T13:00:00+01:00&until=2026-01-31T14:00:00+01:00';
    const answer = await demo.client.get(`${path.replace('{id}', id)}?${query}`);
    expect([answer.status, answer.text]).toEqual([200, expect.any(String)]);
  },
);

it('suggests the right path below /v1', async () => {
  const { url } = demo.api;
  const answer = await clientOf(url).get('/applications/7?secret=hidden');
  expect([answer.status, answer.json()['error']]).toEqual([
    404,
    'There is no such path (did you mean /v1/applications/7?).',
  ]);
  expect((await clientOf(url).get('/nothing')).json()['error']).toBe('There is no such path.');
});

it('suggests the path that is most similar to an unknown one', async () => {
  const errorOf = async (path: string) => {
    const { status, text } = await demo.client.get(path);
    return [status, (JSON.parse(text) as { error: string }).error];
  };
  expect(await errorOf('/v1/webhook?limit=1')).toEqual([
    404,
    'There is no such path (did you mean /v1/webhooks?).',
  ]);
  expect(await errorOf(`/v1/webhook/${'7'.repeat(100)}`)).toEqual([404, 'There is no such path.']);
  expect((await clientOf(demo.api.url).get('/v1/webhook')).status).toBe(401);
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

it('has the id and the address of a new user, credential and environment', async () => {
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
