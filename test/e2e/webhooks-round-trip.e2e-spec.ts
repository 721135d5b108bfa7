import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ApiDocument } from '../support/described-api.js';
import { type DemoAccount, faultsOf, startDemoAccount } from '../support/demo-account.js';

let demo: DemoAccount;
/** Null for every member of a subscription that the API's description knows. */
let nulls: Record<string, null>;

beforeAll(async () => {
  demo = await startDemoAccount();
  const { components } = (await demo.client.get('/openapi.json')).json<ApiDocument>();
  const members = Object.keys(components.schemas['Webhook']!.properties!);
  nulls = Object.fromEntries(members.map((name) => [name, null]));
});
afterAll(() => demo.stop());

const whole = {
  name: 'Billing',
  resource: 'call,sms',
  targetUrl: 'https://user:secret@target.example/hook',
  payload: { order: 4711, tags: [] },
  headers: { 'X-Api-Key': 'f2c1a0b9' },
  retry: { schedule: [], timeoutMs: 5_000 },
};

/** The changes of a resource that a program reads and writes back. */
const languages: [language: string, rewrite: (text: string) => string][] = [
  ['a client that keeps the text', (text) => text],
  ['JavaScript', (text) => JSON.stringify(JSON.parse(text))],
  // json_decode($text, true) has no empty objects, and json_encode escapes slashes.
  ['PHP', (text) => text.replaceAll('{}', '[]').replaceAll('/', '\\/')],
  // Ruby and Java classes write every member that they know.
  ['Java', (text) => JSON.stringify({ ...nulls, ...(JSON.parse(text) as object) })],
];

describe.each(languages)('a subscription that %s sends back as it was shown', (_, rewrite) => {
  it.each([
    ['with every member', whole],
    ['with an empty payload', { ...whole, payload: {}, headers: {} }],
    ['with no member but the required ones', {}],
  ])('stays unchanged %s', async (_with, fields) => {
    const path = await demo.aSubscription(fields);
    const before = await demo.client.get(path);
    const answer = await demo.client.put(path, rewrite(before.text));
    expect([answer.status, answer.headers.etag, answer.text]).toEqual([
      200,
      '"1"',
      expect.any(String),
    ]);
    expect((await demo.client.get(path)).text).toBe(before.text);
  });
});

describe('an empty array in place of an empty object', () => {
  it('is an empty payload, and no header', async () => {
    const created = await demo.aSubscription({ payload: [], headers: [] });
    expect((await demo.client.get(created)).text).toContain('"payload":{},');
    const path = await demo.aSubscription(whole);
    expect((await demo.client.put(path, '{"payload": [ ], "headers": []}')).status).toBe(200);
    const { text } = await demo.client.get(path);
    expect(text).toContain('"payload":{},');
    expect(text).not.toContain('X-Api-Key');
  });

  it('is no retry policy, and no filter', async () => {
    const set = { retry: whole.retry, filter: { a: 1 } };
    const paths = [
      await demo.aSubscription({ retry: [], filter: [] }),
      await demo.aSubscription(set),
    ];
    expect((await demo.client.put(paths[1]!, { retry: [], filter: [] })).status).toBe(200);
    for (const path of paths) {
      const { text } = await demo.client.get(path);
      expect(text).not.toMatch(/"(?:retry|filter)"/);
    }
  });

  it.each(['payload', 'headers', 'retry', 'filter'])(
    'is refused in %s if it is not empty',
    async (name) => {
      const path = await demo.aSubscription();
      for (const value of [[1], [[]], [{}], [null]]) {
        expect(faultsOf(await demo.client.put(path, { [name]: value }))).toEqual([`${name} type`]);
      }
    },
  );

  it.each(['name', 'event', 'resource', 'targetUrl', 'enabled', 'signature'])(
    'is refused in %s, which is not an object',
    async (name) => {
      const path = await demo.aSubscription();
      expect(faultsOf(await demo.client.put(path, { [name]: [] }))).toEqual([`${name} type`]);
    },
  );
});
