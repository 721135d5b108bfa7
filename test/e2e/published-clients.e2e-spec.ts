import { once } from 'node:events';
import { connect } from 'node:net';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createUser } from '../support/accounts.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { type Answer, basic, type Call, type Client, clientOf, send } from '../support/http.js';
import { apiInProcess, type Running } from '../support/in-process.js';
import { expectProblem } from '../support/problem.js';
import { startApi } from '../support/processes.js';
import type { ServiceProcess } from '../support/service-process.js';
import { answersIn, connectTo, exchange } from '../support/raw-connection.js';

let database: TestDatabase;
let api: ServiceProcess;
/** An API that trusts the forwarded headers of this machine. */
let proxiedApi: Running;
let publicApi: Running;
let client: Client;
let platform: Client;
let auth: string;
let userId: string;
let application: string;
let webhook: string;
let applicationWebhook: string;
let imported: string;
let event: string;
let delivery: string;

const PUBLIC_BASE = 'https://api.customer.example/switchhook';

beforeAll(async () => {
  database = await createTestDatabase();
  const [user, operator] = await Promise.all([
    createUser(database, 'customer'),
    createUser(database, 'switch', 'platform'),
  ]);
  const environment = { DATABASE_URL: database.url };
  [api, proxiedApi, publicApi] = await Promise.all([
    startApi(environment),
    apiInProcess({ ...environment, TRUSTED_PROXIES: '10.0.0.0/8,127.0.0.1' }),
    apiInProcess({
      ...environment,
      TRUSTED_PROXIES: '127.0.0.1',
      PUBLIC_BASE_URL: `${PUBLIC_BASE}/`,
    }),
  ]);
  ({ id: userId, auth } = user);
  client = clientOf(api.url, auth);
  platform = clientOf(api.url, operator.auth);
  application = await made('/v1/applications/', {
    ...anApplication,
    messagingUrl: 'http://user:pw@intranet:8080/Sms?q=ü%20#frag',
  });
  webhook = await made('/v1/webhooks/', {
    ...aWebhook,
    targetUrl: 'https://user:pass@target.example/hook',
    name: 'Label',
    payload: { z: 1, a: [null, 1.5] },
  });
  applicationWebhook = await made(`${application}/webhooks/`, aWebhook);
  const [row] = await database.query<{ id: string }>(
    `INSERT INTO applications (user_id, name, api_type, voice_url, partition)
     VALUES ($1, 'Old', 'scripting', 'http://voice.example/', 'Production') RETURNING id`,
    [userId],
  );
  imported = `/v1/applications/${row!.id}`;
  event = pathOf(await platform.post('/v1/events', { ...anEvent, accountId: userId }));
  const shown = (await client.get(event)).json<{ deliveries: { href: string }[] }>();
  delivery = new URL(shown.deliveries[0]!.href).pathname;
});
afterAll(async () => {
  await Promise.all([api.stop(), proxiedApi.stop(), publicApi.stop()]);
  await database.drop();
});

const anApplication = { name: 'Switchboard', voiceUrl: 'http://voice.example/' };
const aWebhook = { event: 'cdrCreated', resource: 'all', targetUrl: 'https://target.example/' };
const anEvent = { event: 'cdrCreated', resource: 'call', data: { number: 1 } };

/** @returns the path of the created resource */
async function made(path: string, body: unknown, call: Call = {}): Promise<string> {
  const answer = await client.post(path, body, call);
  expect(answer.status).toBe(200);
  return pathOf(answer);
}

function pathOf(answer: Answer): string {
  return new URL(answer.json<{ href: string }>().href).pathname;
}

/** Every path that can be fetched, for every resource. */
const everything = (): string[] => [
  '/v1/applications',
  application,
  imported,
  '/v1/webhooks',
  '/v1/webhooks?scope=all&limit=1',
  webhook,
  `${webhook}/secret`,
  `${webhook}/deliveries`,
  `${webhook}/deliveries?limit=1`,
  `${application}/webhooks`,
  `${application}/webhooks/${applicationWebhook.split('/').at(-1) ?? ''}`,
  event,
  delivery,
  `/v1/users/${userId}`,
  '/v1/users/customer',
  '/v1/environments',
  '/v1/environments/1',
];

describe('success', () => {
  it('is 200 with an address that can be fetched, for every creation and change', async () => {
    for (const [path, body] of [
      ['/v1/applications', anApplication],
      ['/v1/webhooks', aWebhook],
      [`${application}/webhooks`, aWebhook],
    ] as const) {
      const answer = await client.post(path, body);
      expect(answer.status).toBe(200);
      expect(answer.headers['content-type']).toBe('application/json; charset=utf-8');
      const { href, ...others } = answer.json<{ href: string }>();
      expect(others).toEqual({});
      expect(answer.headers.location).toBe(href);
      expect(href).toMatch(new RegExp(`^${api.url}/v1/(?:applications|webhooks)/[1-9]\\d*$`));
      const shown = await send('GET', href, { auth });
      expect(shown.json()).toMatchObject({ href, id: href.split('/').at(-1), ...body });
      const update = await send('PUT', href, { auth, body: { name: 'other' } });
      expect([update.status, update.json()]).toEqual([200, { href }]);
      const removal = await send('DELETE', href, { auth });
      expect([removal.status, removal.text]).toEqual([200, '{"message":"delete successful"}']);
      expectProblem(await send('GET', href, { auth }), { status: 404, code: 'not_found' });
    }
  });

  it('is 200 for users, their credentials and environments as well', async () => {
    for (const [path, body] of [
      ['/v1/users', { username: 'made', password: 'long enough' }],
      ['/v1/users/made/credentials', {}],
      ['/v1/environments', { name: 'Beta', type: 'special', billable: false }],
    ] as const) {
      const answer = await platform.post(path, body);
      const { href } = answer.json<{ href: string }>();
      expect([answer.status, answer.headers.location]).toEqual([200, href]);
      expect(href).toMatch(/^http:\/\/[^/]+\/v1\/.*[^/]$/);
      expect((await platform.get(new URL(href).pathname)).json()).toMatchObject({ href });
    }
    const made = (await platform.get('/v1/users/made')).json<{
      href: string;
      credentials: { id: string }[];
    }>();
    const [credential] = made.credentials;
    const removal = await send('DELETE', `${made.href}/credentials/${credential!.id}`, {
      auth: 'switch:switch-secret',
    });
    expect([removal.status, removal.text]).toEqual([200, '{"message":"delete successful"}']);
    expect((await platform.put('/v1/users/made', { status: 'locked' })).status).toBe(200);
  });

  it('is 202 for accepted work', async () => {
    const one = await platform.post('/v1/events', { ...anEvent, accountId: userId });
    expect(one.status).toBe(202);
    const events = [{ ...anEvent, accountId: userId }];
    expect((await platform.post('/v1/events/batch', { events })).status).toBe(202);
    const test = await client.post(`${webhook}/test`);
    expect(test.status).toBe(202);
    for (const answer of [one, test]) {
      const shown = await client.get(pathOf(answer));
      expect(shown.status).toBe(200);
    }
  });

  it('contains no null, and only addresses that can be fetched', async () => {
    for (const path of everything()) {
      const answer = await client.get(path);
      expect([path, answer.status]).toEqual([path, 200]);
      expect(answer.headers['content-type']).toBe('application/json; charset=utf-8');
      expect(answer.headers['cache-control']).toBe('no-store');
      // The payload is the customer's, and may contain null.
      expect(answer.text.replaceAll(/"payload":\{.*?\}/g, '')).not.toContain('null');
      const addresses = answer.text.matchAll(/"(?:href|user|environment)":"([^"]*)"/g);
      for (const [, address = ''] of addresses) {
        expect(address).toMatch(new RegExp(`^${api.url}/v1/.*[^/]$`));
        expect([address, (await send('GET', address, { auth })).status]).toEqual([address, 200]);
      }
    }
  });
});

describe('a whole resource that is sent back', () => {
  const sentBack = async (path: string, put: (text: string) => Promise<Answer>) => {
    const before = await client.get(path);
    const answer = await put(before.text);
    const { href, id } = before.json();
    // Users are ours; the resources of the specification answer with their address alone.
    const own = path.startsWith('/v1/users/') ? `,"id":${id as number}` : '';
    expect([answer.status, answer.text]).toEqual([200, `{"href":"${href as string}"${own}}`]);
    const after = await client.get(path);
    // When a credential was last used is noted some time after its use.
    const ofUse = /,"lastUsedAt":"[^"]*"/;
    expect(after.text.replace(ofUse, '')).toBe(before.text.replace(ofUse, ''));
    expect(after.headers.etag).toBe(before.headers.etag);
  };
  const forms: [form: string, of: (text: string) => string][] = [
    ['as it was received', (text) => text],
    ['with blanks', (text) => JSON.stringify(JSON.parse(text), null, '\t')],
    [
      'in another order',
      (text) =>
        JSON.stringify(Object.fromEntries(Object.entries(JSON.parse(text) as object).reverse())),
    ],
    [
      'without its href and id',
      (text) => JSON.stringify({ ...(JSON.parse(text) as object), href: undefined, id: undefined }),
    ],
    [
      'with fields of a newer version',
      (text) =>
        JSON.stringify({ ...(JSON.parse(text) as object), later: { nested: [null] }, '': 1 }),
    ],
    [
      'with its numbers as strings',
      (text) => text.replaceAll(/(?<="(?:user|account)?[Ii]d":)(\d+)/g, '"$1"'),
    ],
    [
      'with its ids as numbers',
      (text) => text.replaceAll(/(?<="(?:application)?[Ii]d":)"(\d+)"/g, '$1'),
    ],
    [
      'with every character escaped',
      (text) =>
        text
          .replaceAll(
            /[^\u0000-\u007f]/g,
            (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`,
          )
          .replaceAll('/', '\\/'),
    ],
  ];
  const resources: [what: string, path: () => string][] = [
    ['an application', () => application],
    ['an imported application', () => imported],
    ['a subscription of the account', () => webhook],
    ['a subscription of an application', () => applicationWebhook],
  ];

  it.each(
    resources.flatMap(([what, path]) =>
      forms
        // The text of a payload is kept as written.
        .filter(
          ([form]) => what !== 'a subscription of the account' || !/blanks|escaped/.test(form),
        )
        .map(([form, of]) => [what, form, path, of] as const),
    ),
  )('changes nothing: %s %s', async (_, __, path, of) => {
    await sentBack(path(), (text) => client.put(path(), of(text)));
  });

  it('changes nothing at the other address of a subscription either', async () => {
    const below = `${application}/webhooks/${applicationWebhook.split('/').at(-1) ?? ''}`;
    await sentBack(applicationWebhook, (text) => client.put(below, text));
  });

  it('changes nothing for a user', async () => {
    const path = `/v1/users/${userId}`;
    await sentBack(path, (text) => platform.put(path, text));
    await sentBack(path, (text) => platform.put('/v1/users/customer/', text));
  });

  it('changes nothing if it is an element of a list', async () => {
    const [listed] = (await client.get('/v1/applications')).json<{ href: string }[]>();
    await sentBack(new URL(listed!.href).pathname, () =>
      send('PUT', listed!.href, { auth, body: listed }),
    );
  });

  it('creates another resource if it is posted', async () => {
    for (const path of [application, applicationWebhook]) {
      const { href, id, createdAt, updatedAt, ...content } = (await client.get(path)).json();
      const collection = path.slice(0, path.lastIndexOf('/'));
      const copy = await made(collection, { href, id, createdAt, updatedAt, ...content });
      delete content['applicationId'];
      expect(copy).not.toBe(path);
      expect((await client.get(copy)).json()).toMatchObject(content);
      expect((await client.delete(copy)).status).toBe(200);
    }
  });

  it('keeps the user information that its target shows as a mask', async () => {
    const { targetUrl } = (await client.get(webhook)).json();
    expect(targetUrl).toBe('https://***@target.example/hook');
    const stored = () =>
      database.query('SELECT target_url, userinfo FROM webhooks WHERE id = $1', [
        webhook.split('/').at(-1),
      ]);
    const before = await stored();
    expect(before[0]).toMatchObject({ userinfo: expect.stringMatching(/^sealed:/) as string });
    expect((await client.put(webhook, { targetUrl, enabled: false })).status).toBe(200);
    expect((await client.put(webhook, { targetUrl, enabled: true })).status).toBe(200);
    expect(await stored()).toEqual(before);
  });
});

describe('an application', () => {
  const FIELDS = [
    ...['href', 'id', 'name', 'platform', 'apiType', 'voiceUrl', 'messagingUrl', 'environment'],
    ...['userId', 'user', 'partition', 'createdAt', 'updatedAt'],
  ];

  it('has its fields in the order that clients know, shown and listed', async () => {
    const listed = (await client.get('/v1/applications/')).json<Record<string, unknown>[]>();
    for (const path of [application, imported]) {
      const shown = (await client.get(path)).json();
      expect(Object.keys(shown)).toEqual(FIELDS.filter((field) => field in shown));
      const element = listed.find(({ id }) => id === shown['id']);
      expect(JSON.stringify(element)).toBe(JSON.stringify(shown));
    }
    expect(Object.keys((await client.get(application)).json())).toContain('messagingUrl');
    expect(Object.keys((await client.get(imported)).json())).toContain('partition');
  });

  it.each([
    'http://foobar',
    'http://localhost:5000',
    'http://localhost:5000/',
    'http://127.0.0.1:22/',
    'http://[::1]:8080/x',
    'http://user:p%40ss@intranet/a?b=c#d',
    'HTTPS://Example.COM/a/../b?x=[1]&y={2}|',
    'http://example.com/ünï/😀',
    `http://h/${'x'.repeat(2_039)}`,
    `http://h/${'😀'.repeat(2_039)}`,
  ])('may have the URL %s, which is shown as it was sent', async (url) => {
    const path = await made('/v1/applications', { name: 'x', voiceUrl: url, messagingUrl: url });
    expect((await client.get(path)).json()).toMatchObject({ voiceUrl: url, messagingUrl: url });
    expect((await client.delete(path)).status).toBe(200);
  });

  it('accepts its environment in every form, even from answers of other installations', async () => {
    for (const given of [
      ...[2, '2', '/v1/environments/2', '/v1/environments/2/', '/prefix/v1/environments/2'],
      ...['https://api.elsewhere.example/v1/environments/2', 'http://localhost/v1/environments/2/'],
      'http://user:pw@10.0.0.1:8080/a/b/v1/environments/2',
    ]) {
      const path = await made('/v1/applications', { ...anApplication, environment: given });
      const { environment } = (await client.get(path)).json();
      expect([given, environment]).toEqual([given, `${api.url}/v1/environments/2`]);
      expect((await client.put(path, { environment: 1 })).status).toBe(200);
      expect((await client.put(path, { environment: given })).status).toBe(200);
      expect((await client.get(path)).json()['environment']).toBe(environment);
      expect((await client.delete(path)).status).toBe(200);
    }
  });

  it('accepts 2.0 and 2e0 as the number two', async () => {
    for (const number of ['2.0', '2e0', '20e-1']) {
      const body = `{"name":"x","voiceUrl":"http://v","environment":${number}}`;
      const path = await made('/v1/applications', body);
      const { environment } = (await client.get(path)).json();
      expect(environment).toBe(`${api.url}/v1/environments/2`);
      expect((await client.delete(path)).status).toBe(200);
    }
  });

  it('accepts its type in any case, and platform as another name for it', async () => {
    const path = await made('/v1/applications', { ...anApplication, apiType: 'WebAPI' });
    const types = async () => {
      const { apiType, platform: other } = (await client.get(path)).json();
      return [apiType, other];
    };
    expect(await types()).toEqual(['webapi', 'webapi']);
    await client.put(path, { platform: 'SCRIPTING' });
    expect(await types()).toEqual(['scripting', 'scripting']);
    await client.put(path, { platform: 'Scripting', apiType: 'WEBAPI' });
    expect(await types()).toEqual(['webapi', 'webapi']);
    await client.put(path, { platform: 'scripting', apiType: 'webapi' });
    expect(await types()).toEqual(['scripting', 'scripting']);
    await client.delete(path);
  });

  it('ignores partition and other legacy fields', async () => {
    for (const extra of [
      { partition: 'Production' },
      { partition: 5, id: 'x', href: null, user: 0, userId: {} },
      { createdAt: 'x', updatedAt: [], startUrl: 'x', tokens: [{}] },
    ]) {
      const path = await made('/v1/applications', { ...anApplication, ...extra });
      const before = (await client.get(path)).text;
      expect(before).not.toContain('partition');
      expect((await client.put(path, extra)).status).toBe(200);
      expect((await client.get(path)).text).toBe(before);
      expect((await client.delete(path)).status).toBe(200);
    }
  });
});

describe('a request that needs no body', () => {
  const BODIES: [what: string, call: Call][] = [
    ['an empty JSON string', { body: '""' }],
    ['an empty JSON string without a type', { body: '""', headers: { 'content-type': [] } }],
    ['null', { body: 'null' }],
    ['an object', { body: {} }],
    ['text', { body: 'no JSON', headers: { 'content-type': 'text/plain' } }],
    ['only a content type', { headers: { 'content-type': 'application/json' } }],
    ['only a length', { headers: { 'content-length': '0' } }],
    ['chunks', { body: '""', headers: { 'content-length': [], 'transfer-encoding': 'chunked' } }],
    ['invalid gzip', { body: '""', headers: { 'content-encoding': 'gzip' } }],
    ['a body over every limit', { body: 'x'.repeat(300_000) }],
  ];

  it.each(BODIES)('may be a GET that carries %s', async (_, call) => {
    for (const path of everything()) {
      expect([path, (await client.get(path, call)).status]).toEqual([path, 200]);
    }
  });

  it.each(BODIES)('may be a DELETE that carries %s', async (_, call) => {
    const own = await made('/v1/applications', anApplication);
    const below = await made(`${own}/webhooks`, aWebhook);
    for (const path of [below, own]) {
      const answer = await client.delete(path, call);
      expect([answer.status, answer.json()]).toEqual([200, { message: 'delete successful' }]);
    }
  });

  it.each(BODIES)('may be an action that carries %s', async (_, call) => {
    const rotation = await send('POST', `${api.url}${webhook}/secret/rotate`, { auth, ...call });
    expect(rotation.status).toBe(200);
    const test = await send('POST', `${api.url}${webhook}/test`, { auth, ...call });
    expect(test.status).toBe(202);
  });
});

describe('a path', () => {
  it('works with HEAD wherever it works with GET', async () => {
    for (const path of everything()) {
      const [head, get] = [await client.head(path), await client.get(path)];
      expect([path, head.status, head.text]).toEqual([path, 200, '']);
      for (const name of ['content-type', 'etag', 'link', 'cache-control'] as const) {
        expect([path, name, head.headers[name]]).toEqual([path, name, get.headers[name]]);
      }
    }
    for (const path of ['/v1/applications/999999', '/v1/x']) {
      const head = await client.head(path);
      expect([head.status, head.text]).toEqual([404, '']);
    }
    expect((await send('HEAD', `${api.url}/v1/applications`)).status).toBe(401);
    expect((await send('HEAD', `${api.url}/health/live`)).status).toBe(200);
  });

  it('works with and without a trailing slash', async () => {
    for (const path of everything()) {
      const slashed = path.includes('?') ? path.replace('?', '/?') : `${path}/`;
      const [without, with_] = [await client.get(path), await client.get(slashed)];
      expect([path, with_.status]).toEqual([path, 200]);
      expect(with_.text).toBe(without.text);
      expect(with_.headers.link).toBe(without.headers.link);
    }
    for (const path of ['/v1/applications/', '/v1/webhooks/', `${application}/webhooks/`]) {
      const body = path.includes('hook') ? aWebhook : anApplication;
      const own = await made(path, body);
      expect((await client.put(`${own}/`, { name: 'other' })).json()).toEqual({
        href: api.url + own,
      });
      expect((await client.delete(`${own}/`)).status).toBe(200);
    }
    expect((await client.post(`${webhook}/secret/rotate/`)).status).toBe(200);
    expect((await client.post(`${webhook}/test/`)).status).toBe(202);
    const events = [{ ...anEvent, accountId: userId }];
    expect((await platform.post('/v1/events/', events[0])).status).toBe(202);
    expect((await platform.post('/v1/events/batch/', { events })).status).toBe(202);
  });
});

describe('a body', () => {
  const body = '{"name":"Zentrale Köln","voiceUrl":"http://foobar"}';
  it.each<[what: string, call: Call]>([
    ['of application/json', { headers: { 'content-type': 'application/json' } }],
    ['with a charset', { headers: { 'content-type': 'application/json; charset=utf-8' } }],
    [
      'with a charset without a blank',
      { headers: { 'content-type': 'application/json;charset=UTF-8' } },
    ],
    ['with a quoted charset', { headers: { 'content-type': 'Application/JSON ; Charset="utf8"' } }],
    [
      'with a wrong charset',
      { headers: { 'content-type': 'application/json; charset=iso-8859-1' } },
    ],
    [
      'with meaningless parameters',
      { headers: { 'content-type': 'application/json; odata=verbose; q=1;' } },
    ],
    ['with a byte order mark', { body: `\ufeff${body}` }],
    ['with blanks around it', { body: ` \r\n\t${body}\n\n` }],
    ['in gzip', { body: gzipSync(body), headers: { 'content-encoding': 'gzip' } }],
    [
      'in gzip with a byte order mark',
      { body: gzipSync(`\ufeff${body}`), headers: { 'content-encoding': 'GZIP' } },
    ],
    ['in the encoding identity', { headers: { 'content-encoding': 'identity' } }],
    ['in chunks', { headers: { 'content-length': [], 'transfer-encoding': 'chunked' } }],
    ['that waits for 100 Continue', { headers: { expect: '100-continue' } }],
  ])('%s is read', async (_, call) => {
    const path = await made('/v1/applications', call.body ?? body, call);
    expect((await client.get(path)).json()).toMatchObject({ name: 'Zentrale Köln' });
    const update = await client.put(path, call.body ?? body, call);
    expect(update.status).toBe(200);
    expect((await client.delete(path)).status).toBe(200);
  });

  it('may give ids as integers or as strings of digits', async () => {
    const id = application.split('/').at(-1) ?? '';
    for (const ids of [
      { applicationId: id },
      { applicationId: Number(id) },
      { accountId: userId },
      { accountId: Number(userId) },
      { applicationId: id, accountId: Number(userId) },
    ]) {
      const answer = await platform.post('/v1/events', { ...anEvent, ...ids });
      expect(answer.status).toBe(202);
      expect((await client.get(pathOf(answer))).json()).toMatchObject({
        accountId: Number(userId),
        ...('applicationId' in ids && { applicationId: id }),
      });
    }
    const environment = { name: 'Special', type: 'special', billable: true };
    for (const chosen of [4711, '4712', '9223372036854775807']) {
      const answer = await platform.post('/v1/environments', { ...environment, id: chosen });
      expect(pathOf(answer)).toBe(`/v1/environments/${chosen}`);
      const shown = (await client.get(pathOf(answer))).json();
      expect(shown['id']).toBe(String(chosen));
    }
  });
});

describe('an error', () => {
  it.each<[path: string, body: unknown, named: string]>([
    ['/v1/applications', { voiceUrl: 'http://v' }, 'name'],
    ['/v1/applications', { name: 'x' }, 'voiceUrl'],
    ['/v1/applications', { ...anApplication, apiType: 'fax' }, 'apiType'],
    ['/v1/applications', { ...anApplication, environment: 999 }, 'environment'],
    ['/v1/webhooks', { ...aWebhook, event: undefined }, 'event'],
    ['/v1/webhooks', { ...aWebhook, resource: 'fax' }, 'resource'],
    ['/v1/webhooks', { ...aWebhook, targetUrl: 'http://localhost/' }, 'targetUrl'],
  ])('of %s with %j names in one string what is wrong: %s-%#', async (path, body, named) => {
    const answer = await client.post(path, body);
    expectProblem(answer, { status: 400, code: 'validation_failed' });
    expect(answer.json()['error']).toMatch(new RegExp(`^${named} .*\\.$`));
  });

  it('about credentials names the scheme, so that clients ask for them', async () => {
    const answer = await send('GET', `${api.url}/v1/applications/`);
    expectProblem(answer, { status: 401, code: 'unauthorized' });
    expect(answer.headers['www-authenticate']).toBe('Basic realm="switchhook", charset="UTF-8"');
    for (const scheme of ['basic', 'BASIC']) {
      const authorization = basic(auth).replace('Basic', scheme);
      const known = await send('GET', `${api.url}/v1/applications/`, {
        headers: { authorization },
      });
      expect(known.status).toBe(200);
    }
  });
});

describe('on the wire', () => {
  const head = (line: string, more: readonly string[] = []) =>
    [line, `Authorization: ${basic(auth)}`, ...more, '\r\n'].join('\r\n');
  const CLOSE = 'Connection: close';
  const withBody = (line: string, body: string, more: readonly string[] = []) =>
    head(line, [...more, 'Content-Type: application/json', `Content-Length: ${body.length}`]) +
    body;

  it('a request target in absolute form works, and its host counts', async () => {
    const shown = await exchange(
      api.url,
      head(`GET http://other.example:8080${application} HTTP/1.1`, ['Host: wrong', CLOSE]),
    );
    expect(shown.json()['href']).toBe(`http://other.example:8080${application}`);
    const listed = await exchange(
      api.url,
      head('GET HTTP://u:p@other.example/v1/applications/?limit=1 HTTP/1.1', ['Host: x', CLOSE]),
    );
    expect(listed.headers['link']).toMatch(/^<http:\/\/other\.example\/v1\/applications\?/);
    const line = 'POST http://other.example/v1/applications/ HTTP/1.1';
    const created = await exchange(
      api.url,
      withBody(line, JSON.stringify(anApplication), ['Host: x', CLOSE]),
    );
    const { href } = created.json<{ href: string }>();
    expect(href).toMatch(/^http:\/\/other\.example\/v1\/applications\/\d+$/);
    const update = await exchange(
      api.url,
      withBody(`PUT ${href} HTTP/1.1`, '{"name":"x"}', ['Host: x', CLOSE]),
    );
    expect([update.status, update.json()]).toEqual([200, { href }]);
    const removal = await exchange(api.url, head(`DELETE ${href}/ HTTP/1.1`, ['Host: x', CLOSE]));
    expect(removal.status).toBe(200);
    for (const target of ['http://other.example', 'http://other.example?x']) {
      const root = await exchange(api.url, head(`GET ${target} HTTP/1.1`, ['Host: x', CLOSE]));
      expect([root.status, root.headers['location']]).toEqual([302, 'console/']);
    }
    const unknown = head('GET http://other.example/v2/x HTTP/1.1', ['Host: x', CLOSE]);
    expectProblem(await exchange(api.url, unknown), { status: 404, code: 'not_found' });
    const secretly = `GET http://other.example/v1/x HTTP/1.1\r\nHost: x\r\n${CLOSE}\r\n\r\n`;
    expectProblem(await exchange(api.url, secretly), { status: 401, code: 'unauthorized' });
  });

  it('HTTP/1.0 works without Host, with addresses that can be fetched', async () => {
    const shown = await exchange(api.url, head(`GET ${application} HTTP/1.0`));
    expect(shown.status).toBe(200);
    expect(shown.headers['transfer-encoding']).toBeUndefined();
    expect(shown.json()['href']).toBe(api.url + application);
    const created = await exchange(
      api.url,
      withBody('POST /v1/applications/ HTTP/1.0', JSON.stringify(anApplication)),
    );
    const { href } = created.json<{ href: string }>();
    expect((await send('DELETE', href, { auth })).status).toBe(200);
  });

  it('HTTP/1.1 without Host is answered as well', async () => {
    const shown = await exchange(api.url, head(`GET ${application} HTTP/1.1`, [CLOSE]));
    expect([shown.status, shown.json()['href']]).toEqual([200, api.url + application]);
  });

  it('HTTP/1.0 may keep its connection', async () => {
    const connection = await connectTo(api.url);
    for (let count = 1; count <= 3; count += 1) {
      connection.write(head(`GET ${application} HTTP/1.0`, ['Connection: keep-alive']));
      await connection.until(new RegExp(`(?:"updatedAt":"[^"]*"\\}[^]*){${count}}$`));
    }
    expect(connection.received()).toMatch(/connection: keep-alive/i);
    connection.destroy();
  });

  it('a connection stays usable after requests whose bodies are not read', async () => {
    const connection = await connectTo(api.url);
    const type = 'Content-Type: application/json';
    const requests = [
      head(`GET ${application} HTTP/1.1`, ['Host: x', type, 'Content-Length: 2']) + '""',
      head(`GET ${webhook} HTTP/1.1`, ['Host: x', 'Transfer-Encoding: chunked']) +
        '2\r\n""\r\n0\r\n\r\n',
      head('GET /v1/x HTTP/1.1', ['Host: x', 'Content-Length: 200000']) + 'x'.repeat(200_000),
      withBody(`POST ${webhook}/secret/rotate HTTP/1.1`, '""', ['Host: x']),
      withBody('PATCH /v1/applications HTTP/1.1', '{"name"', ['Host: x']),
      withBody('DELETE /v1/applications/999999 HTTP/1.1', '""', ['Host: x']),
      withBody('POST /v1/applications HTTP/1.1', '{', ['Host: x']),
      withBody('POST /v1/applications HTTP/1.1', 'x'.repeat(300_000), ['Host: x']),
      head(`GET ${application} HTTP/1.1`, ['Host: x', CLOSE]),
    ];
    const statuses = [200, 200, 404, 200, 405, 404, 400, 413, 200];
    for (const [index, request] of requests.entries()) {
      connection.write(request);
      await connection.until(new RegExp(`(?:HTTP/1\\.1 [^]*?\\r\\n\\r\\n[[{][^]*){${index + 1}}$`));
    }
    await connection.ended;
    expect(answersIn(connection.received()).map(({ status }) => status)).toEqual(statuses);
  });

  it('pipelined requests are answered in order', async () => {
    const paths = [application, webhook, '/v1/x', '/v1/environments/1', imported];
    const connection = await connectTo(api.url);
    connection.write(
      paths
        .map((path) => head(`GET ${path} HTTP/1.1`, ['Host: x', 'Content-Length: 2']) + '""')
        .join('') + head('GET /v1/environments/2 HTTP/1.1', ['Host: x', CLOSE]),
    );
    await connection.ended;
    const answers = answersIn(connection.received());
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 404, 200, 200, 200]);
    expect(answers.map((answer) => answer.json()['href'])).toEqual([
      ...[application, webhook].map((path) => `http://x${path}`),
      undefined,
      ...['/v1/environments/1', imported, '/v1/environments/2'].map((path) => `http://x${path}`),
    ]);
  });

  it('a request may arrive byte by byte', async () => {
    const { hostname, port } = new URL(api.url);
    const socket = connect(Number(port), hostname).setNoDelay(true);
    let received = '';
    socket.setEncoding('utf8').on('data', (text: string) => (received += text));
    const closed = once(socket, 'close');
    const body = JSON.stringify({ name: 'slow' });
    for (const byte of withBody(`PUT ${imported} HTTP/1.1`, body, ['Host: x', CLOSE])) {
      await new Promise((resolve) => socket.write(byte, resolve));
    }
    await closed;
    expect(answersIn(received)[0]!.json()).toEqual({ href: `http://x${imported}` });
  });

  it('header names and values are accepted in any case, with any surrounding blanks', async () => {
    const answer = await exchange(
      api.url,
      [
        `PUT ${imported} HTTP/1.1`,
        'hOST:x',
        `AUTHORIZATION:   ${basic(auth)}  `,
        'CONTENT-TYPE:\tAPPLICATION/JSON\t',
        'content-LENGTH: 2',
        'Connection: CLOSE',
        '\r\n{}',
      ]
        .join('\r\n')
        .replace('\r\n\r\n\r\n', '\r\n\r\n'),
    );
    expect(answer.status).toBe(200);
  });

  it('a line break after a body does no harm', async () => {
    const connection = await connectTo(api.url);
    const update = withBody(`PUT ${imported} HTTP/1.1`, '{}', ['Host: x']);
    connection.write(`${update}\r\n${update}\r\n`);
    connection.write(withBody(`PUT ${imported} HTTP/1.1`, '{}', ['Host: x', CLOSE]) + '\r\n');
    await connection.ended;
    expect(answersIn(connection.received()).map(({ status }) => status)).toEqual([200, 200, 200]);
  });

  it('blank lines before a request line do no harm', async () => {
    const request = `\r\n\r\n${head(`GET ${application} HTTP/1.1`, ['Host: x', CLOSE])}`;
    expect((await exchange(api.url, request)).status).toBe(200);
  });
});

describe('the addresses in answers', () => {
  const forwarded = {
    'x-forwarded-proto': 'https',
    'x-forwarded-host': 'api.example:8443',
    'x-forwarded-for': '203.0.113.9',
  };
  const hrefs = async (base: string, headers: Record<string, string>) => {
    const shown = await send('GET', base + application, { auth, headers });
    const listed = await send('GET', `${base}/v1/applications?limit=1`, { auth, headers });
    const created = await send('POST', `${base}/v1/webhooks`, { auth, headers, body: aWebhook });
    const { href, environment, user } = shown.json<Record<string, string>>();
    const all = [href, environment, user, created.json<{ href: string }>().href];
    all.push(String(created.headers.location), String(listed.headers.link).slice(1));
    const made = new URL(String(created.headers.location)).pathname.replace(/^.*\/v1/, '/v1');
    expect((await client.delete(made)).status).toBe(200);
    return [...new Set(all.map((address) => address?.replace(/\/v1\/.*$/, '')))];
  };

  it('start with the host of the request, and ignore forwarded headers of untrusted senders', async () => {
    expect(await hrefs(api.url, {})).toEqual([api.url]);
    expect(await hrefs(api.url, { host: 'my.example:81' })).toEqual(['http://my.example:81']);
    expect(await hrefs(api.url, { host: '[::1]:81' })).toEqual(['http://[::1]:81']);
    expect(await hrefs(api.url, { host: 'x:65535' })).toEqual(['http://x:65535']);
    expect(await hrefs(api.url, { host: 'x:65536' })).toEqual([api.url]);
    expect(await hrefs(api.url, forwarded)).toEqual([api.url]);
  });

  it('start as a trusted proxy says', async () => {
    expect(await hrefs(proxiedApi.url, {})).toEqual([proxiedApi.url]);
    expect(await hrefs(proxiedApi.url, forwarded)).toEqual(['https://api.example:8443']);
    const chain = {
      'x-forwarded-proto': 'https, http',
      'x-forwarded-host': 'api.example, inner.example',
    };
    expect(await hrefs(proxiedApi.url, chain)).toEqual(['https://api.example']);
    for (const scheme of ['HTTPS', 'Https', 'HTTPS , http']) {
      const headers = { ...forwarded, 'x-forwarded-proto': scheme };
      expect(await hrefs(proxiedApi.url, headers)).toEqual(['https://api.example:8443']);
    }
    const upper = { 'x-forwarded-proto': 'HTTP', 'x-forwarded-host': 'API.example:81 , inner' };
    expect(await hrefs(proxiedApi.url, upper)).toEqual(['http://API.example:81']);
  });

  it('can be fetched, whatever a trusted proxy says', async () => {
    for (const headers of [
      { 'x-forwarded-proto': 'javascript' },
      { 'x-forwarded-proto': '' },
      { 'x-forwarded-proto': 'https://evil.example/' },
      { 'x-forwarded-host': '"><script>' },
      { 'x-forwarded-host': '' },
      { 'x-forwarded-host': 'a b' },
      { 'x-forwarded-host': 'api.example:65536' },
    ]) {
      expect([headers, ...(await hrefs(proxiedApi.url, headers))]).toEqual([
        headers,
        proxiedApi.url,
      ]);
    }
  });

  it('start with PUBLIC_BASE_URL if it is set, whatever the request says', async () => {
    expect(await hrefs(publicApi.url, {})).toEqual([PUBLIC_BASE]);
    expect(await hrefs(publicApi.url, { ...forwarded, host: 'x' })).toEqual([PUBLIC_BASE]);
  });

  it('can be sent to another installation as an environment', async () => {
    const shown = await send('GET', publicApi.url + application, { auth });
    const { environment } = shown.json();
    expect(environment).toBe(`${PUBLIC_BASE}/v1/environments/1`);
    const { etag } = (await client.get(application)).headers;
    expect((await client.put(application, shown.text)).status).toBe(200);
    expect((await client.get(application)).headers.etag).toBe(etag);
  });
});

it('has caused no error of the service', () => {
  expect(api.output()).not.toMatch(/"level":"(?:error|fatal)"/);
});
