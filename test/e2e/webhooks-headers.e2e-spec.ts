import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  type DemoAccount,
  faultsOf,
  minimalSubscription,
  startDemoAccount,
} from '../support/demo-account.js';
import { workerInProcess, type InProcess } from '../support/in-process.js';
import { type Receiver, startReceiver } from '../support/receiver.js';

let demo: DemoAccount;
let worker: InProcess;
let receiver: Receiver;

beforeAll(async () => {
  const loopback = { DELIVERY_ALLOWED_NETWORKS: '127.0.0.0/8' };
  demo = await startDemoAccount(loopback);
  worker = await workerInProcess({ DATABASE_URL: demo.database.url, ...loopback });
  receiver = await startReceiver();
});
afterAll(async () => {
  await worker.stop();
  await demo.stop();
  await receiver.close();
});
beforeEach(() => {
  receiver.received.length = 0;
});

/** The headers that the receiver gets with a test of the subscription. */
async function sentBy(path: string) {
  const before = receiver.received.length;
  expect((await demo.client.post(`${path}/test`)).status).toBe(202);
  await receiver.until((received) => received.length > before);
  return receiver.received.at(-1)!.headers;
}

const create = (headers: unknown, fields: object = {}) =>
  demo.client.post('/v1/webhooks', { ...minimalSubscription, ...fields, headers });

describe('headers of a subscription', () => {
  it('are sent with every notification, and shown without their values', async () => {
    const headers = {
      'X-Api-Key': 'top secret',
      Authorization: 'Bearer abc',
      cookie: 'a=b; c="d"',
    };
    const path = await demo.aSubscription({ targetUrl: receiver.url, headers });
    const shown = { 'X-Api-Key': '***', Authorization: '***', cookie: '***' };
    const answer = await demo.client.get(path);
    expect(answer.text).toContain(`"headers":${JSON.stringify(shown)}`);
    expect((await demo.client.get('/v1/webhooks')).text).not.toContain('secret');
    const sent = await sentBy(path);
    expect(sent).toMatchObject({
      'x-api-key': 'top secret',
      authorization: 'Bearer abc',
      cookie: 'a=b; c="d"',
      'content-type': 'application/json',
    });
    expect(sent['user-agent']).toMatch(/^Switchhook/);
    const [row] = await demo.database.query<{ headers: Record<string, string> }>(
      'SELECT headers FROM webhooks WHERE deleted_at IS NULL',
    );
    for (const value of Object.values(row!.headers)) expect(value).toMatch(/^sealed:test:/);
  });

  it('keep their values, one by one, when they are sent back as they are shown', async () => {
    const targetUrl = receiver.url;
    const path = await demo.aSubscription({ targetUrl, headers: { A: 'one', B: 'two' } });
    const before = await demo.client.get(path);
    expect((await demo.client.put(path, before.json())).status).toBe(200);
    expect((await demo.client.get(path)).text).toBe(before.text);
    await demo.client.put(path, { headers: { A: '***', C: 'three' } });
    expect((await demo.shown(path))['headers']).toEqual({ A: '***', C: '***' });
    const sent = await sentBy(path);
    expect([sent['a'], sent['b'], sent['c']]).toEqual(['one', undefined, 'three']);
    await demo.client.put(path, { name: 'x' });
    expect((await sentBy(path))['a']).toBe('one');
  });

  it.each([null, {}])('are cleared by %j', async (none) => {
    const path = await demo.aSubscription({ headers: { A: 'one' } });
    const { etag } = (await demo.client.get(path)).headers;
    await demo.client.put(path, { headers: none });
    const answer = await demo.client.get(path);
    expect(answer.json()).not.toHaveProperty('headers');
    expect(answer.headers.etag).not.toBe(etag);
    expect(await demo.shown(await demo.aSubscription({ headers: none }))).not.toHaveProperty(
      'headers',
    );
  });

  it('may have any harmless names and values', async () => {
    const headers = JSON.parse(
      `{"__proto__": "own", "constructor": "x", "X!#$%&'*+.^_\`|~9": "~ !", "${'n'.repeat(64)}": "${'v'.repeat(1_024)}"}`,
    ) as Record<string, string>;
    const path = await demo.aSubscription({ targetUrl: receiver.url, headers });
    const sent = await sentBy(path);
    // Node's server drops the first one, although it is sent like the others.
    for (const [name, value] of Object.entries(headers).slice(1)) {
      expect([name, Object.getOwnPropertyDescriptor(sent, name.toLowerCase())?.value]).toEqual([
        name,
        value,
      ]);
    }
    expect(Object.keys((await demo.shown(path))['headers'] as object)).toEqual(
      Object.keys(headers),
    );
  });

  it.each<[headers: unknown, ...faults: string[]]>([
    [['X: y'], 'headers type'],
    ['X: y', 'headers type'],
    [true, 'headers type'],
    [Object.fromEntries(Array.from({ length: 11 }, (_, at) => [`X-${at}`, 'v'])), 'headers length'],
    [{ ['n'.repeat(65)]: 'v' }, 'headers length'],
    [{ 'a b': 'v' }, '/headers/a b format'],
    [{ '': 'v' }, '/headers/ format'],
    [{ 'X:': 'v' }, '/headers/X: format'],
    [{ 'X\r\nY': 'v' }, '/headers/X\r\nY format'],
    [{ ä: 'v' }, '/headers/ä format'],
    [{ 'a/~': 'v' }, '/headers/a~1~0 format'],
    [{ A: '' }, '/headers/A length'],
    ...[' v', 'v ', 'a\tb', 'a\r\nX: b', 'ä', '\0', '\ud800'].map((value): [object, string] => [
      { A: value },
      '/headers/A format',
    ]),
    [{ A: 'v'.repeat(1_025) }, '/headers/A length'],
    [{ A: 1, B: null, C: ['v'] }, '/headers/A type', '/headers/B type', '/headers/C type'],
    [{ A: 'v', a: 'w' }, '/headers/a conflict'],
    [{ A: '***' }, '/headers/A format'],
  ])('are refused: %j', async (headers, ...faults) => {
    expect(faultsOf(await create(headers))).toEqual(faults.sort());
    const path = await demo.aSubscription();
    expect(faultsOf(await demo.client.put(path, { headers }))).toEqual(faults.sort());
  });

  it.each([
    ...['Content-Type', 'content-length', 'Content-Encoding', 'Host', 'Connection', 'Keep-Alive'],
    ...['Proxy-Authorization', 'proxy-connection', 'TE', 'Trailer', 'Transfer-Encoding', 'Upgrade'],
    ...['Expect', 'HTTP2-Settings', 'User-Agent', 'traceparent', 'TraceState', 'Webhook-Id'],
    ...[
      'webhook-signature',
      'webhook-anything',
      'Forwarded',
      'X-Forwarded-For',
      'X-Real-IP',
      'Via',
    ],
    ...['True-Client-IP', 'X-HTTP-Method-Override', 'X-HTTP-Method', 'X-Method-Override'],
    // CGI and its successors cannot distinguish `-` and `_` in these names.
    ...['X_Forwarded_For', 'Content_Length', 'Webhook_Signature', 'x_Real-ip', 'True_Client_IP'],
  ])('cannot have the name %s', async (name) => {
    expect(faultsOf(await create({ [name]: 'v' }))).toEqual([`/headers/${name} not_allowed`]);
  });

  it('are not sent if their names were reserved after they were stored', async () => {
    const path = await demo.aSubscription({
      targetUrl: receiver.url,
      headers: { A: 'one', B: 'two' },
    });
    await demo.database.query(
      `UPDATE webhooks SET headers = json_build_object('X_Forwarded_For', headers -> 'A',
         'B', headers -> 'B')
       WHERE id = $1`,
      [path.split('/').at(-1)],
    );
    const sent = await sentBy(path);
    expect(sent['b']).toBe('two');
    expect(sent).not.toHaveProperty('x_forwarded_for');
  });

  it('cannot contain Authorization beside user information, whichever is set last', async () => {
    const headers = { AUTHORIZATION: 'Bearer abc' };
    const targetUrl = 'https://user:pw@target.example/';
    const conflict = ['/headers/AUTHORIZATION conflict'];
    expect(faultsOf(await create(headers, { targetUrl }))).toEqual(conflict);
    const withUserinfo = await demo.aSubscription({ targetUrl });
    expect(faultsOf(await demo.client.put(withUserinfo, { headers }))).toEqual(conflict);
    const withHeader = await demo.aSubscription({ headers });
    const answer = await demo.client.put(withHeader, { targetUrl });
    expect(faultsOf(answer)).toEqual(['targetUrl conflict']);
    const moved = await demo.client.put(withHeader, { targetUrl, headers: null });
    expect(moved.status).toBe(200);
  });

  it('do not appear in errors', async () => {
    const answer = await create({ A: 'hidden\u0001', B: 'hidden', 'C D': 'hidden' });
    expect(answer.text).not.toContain('hidden');
  });
});
