import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createUser } from '../support/accounts.js';
import { type DemoAccount, faultsOf, startDemoAccount } from '../support/demo-account.js';
import { type Client, clientOf } from '../support/http.js';

/** U+202A to U+202E and U+2066 to U+2069. */
const CONTROLS = Array.from('\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069');
const NAME = 'in\u202egpj.exe';
const URL_WITH_ONE = 'https://a.example/\u2066x';

let demo: DemoAccount;
let platform: Client;

beforeAll(async () => {
  demo = await startDemoAccount();
  platform = clientOf(demo.api.url, (await createUser(demo.database, 'switch', 'platform')).auth);
});
afterAll(() => demo.stop());

const application = {
  name: 'Shop',
  voiceUrl: 'https://a.example/',
  messagingUrl: 'https://a.example/',
};
const subscription = {
  name: 'x',
  event: 'smsdlr',
  resource: 'all',
  targetUrl: 'https://a.example/',
};
const environment = { name: 'Tests', type: 'special', billable: false };

const FIELDS: [collection: string, field: string, body: object][] = [
  ['/v1/applications', 'name', application],
  ['/v1/applications', 'voiceUrl', application],
  ['/v1/applications', 'messagingUrl', application],
  ['/v1/webhooks', 'name', subscription],
  ['/v1/webhooks', 'targetUrl', subscription],
  ['/v1/environments', 'name', environment],
];

describe.each(FIELDS)('of %s, %s', (collection, field, body) => {
  it('must not contain a bidirectional control', async () => {
    for (const control of CONTROLS) {
      const value = field === 'name' ? `a${control}b` : `https://a.example/${control}`;
      const answer = await platform.post(collection, { ...body, [field]: value });
      expect(faultsOf(answer)).toEqual([`${field} format`]);
      expect(answer.json()['error']).toBe(
        `${field} must not contain bidirectional controls (U+202A to U+202E, U+2066 to U+2069).`,
      );
    }
  });

  it('may contain letters that are written from right to left, and marks of direction', async () => {
    const text = '\u0634\u0631\u0643\u0629\u200e-\u200f\u061c1\u2065\u206a';
    const value = field === 'name' ? text : `https://a.example/${text}`;
    expect((await platform.post(collection, { ...body, [field]: value })).status).toBe(200);
  });
});

it('is reported with all other faults of a request', async () => {
  const body = { name: NAME, resource: 'fax', targetUrl: 'https://a.example/' };
  expect(faultsOf(await demo.client.post('/v1/webhooks', body))).toEqual([
    'event required',
    'name format',
    'resource choice',
  ]);
});

it.each([
  ['application', 'name', NAME],
  ['application', 'voiceUrl', URL_WITH_ONE],
  ['application', 'messagingUrl', URL_WITH_ONE],
  ['subscription', 'name', NAME],
  ['subscription', 'targetUrl', URL_WITH_ONE],
  ['subscription', 'targetUrl', 'https://user:\u202e@a.example/'],
])('cannot come into the %s by an update of its %s', async (what, field, value) => {
  const path = what === 'application' ? await demo.anApplication() : await demo.aSubscription();
  const before = await demo.client.get(path);
  expect(faultsOf(await demo.client.put(path, { [field]: value }))).toEqual([`${field} format`]);
  expect((await demo.client.get(path)).text).toBe(before.text);
});

it('is allowed in free-form data', async () => {
  const path = await demo.aSubscription({ payload: { note: NAME } });
  expect((await demo.client.put(path, { payload: { note: `${NAME}2` } })).status).toBe(200);
});

describe('in a value that an older version has stored', () => {
  const stored = async (table: string, path: string, columns: Record<string, string>) => {
    const names = Object.keys(columns);
    await demo.database.query(
      `UPDATE ${table} SET ${names.map((name, i) => `${name} = $${i + 2}`).join()} WHERE id = $1`,
      [path.split('/').at(-1)!, ...Object.values(columns)],
    );
    return path;
  };
  const anOld = {
    application: async () =>
      stored('applications', await demo.anApplication(), { name: NAME, voice_url: URL_WITH_ONE }),
    subscription: async () =>
      stored('webhooks', await demo.aSubscription(), { name: NAME, target_url: URL_WITH_ONE }),
  };

  it.each(['application', 'subscription'] as const)(
    'leaves the rest of the %s writable, and may stay until it is changed',
    async (what) => {
      const path = await anOld[what]();
      const before = await demo.client.get(path);
      expect(before.json()['name']).toBe(NAME);
      const sentBack = await demo.client.put(path, before.text);
      expect([sentBack.status, sentBack.headers.etag]).toEqual([200, before.headers.etag]);
      const other = what === 'application' ? { apiType: 'webapi' } : { resource: 'sms' };
      const changed = await demo.client.put(path, { ...before.json<object>(), ...other });
      expect([changed.status, changed.headers.etag]).toEqual([200, '"2"']);
      expect(faultsOf(await demo.client.put(path, { name: `${NAME}!` }))).toEqual(['name format']);
      expect((await demo.client.put(path, { name: 'plain' })).status).toBe(200);
    },
  );
});
