import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  type DemoAccount,
  faultsOf,
  minimalSubscription,
  startDemoAccount,
} from '../support/demo-account.js';
import { type Client, clientOf } from '../support/http.js';
import { type RunningProcess, startApi } from '../support/processes.js';

let demo: DemoAccount;
/** The same database, but targets in 10.0.0.0/8 and on the loopback are allowed. */
let lenientApi: RunningProcess;
let lenient: Client;

beforeAll(async () => {
  demo = await startDemoAccount();
  lenientApi = await startApi({
    DATABASE_URL: demo.database.url,
    DELIVERY_ALLOWED_NETWORKS: '10.0.0.0/8,127.0.0.0/8',
  });
  lenient = clientOf(lenientApi.url, demo.auth);
});
afterAll(async () => {
  await lenientApi.stop();
  await demo.stop();
});

describe('a target', () => {
  const refused = [
    'http://localhost/',
    'http://LOCALHOST.:8080/',
    'http://a.localhost/',
    'http://127.0.0.1/',
    'http://127.1/',
    'http://0x7f.0.0.1/',
    'http://017700000001/',
    'http://2130706433/',
    'http://0/',
    'http://10.1.2.3/',
    'http://172.16.0.1/',
    'http://192.168.1.1/',
    'http://169.254.169.254/latest/meta-data',
    'http://100.64.0.1/',
    'http://192.0.2.1/',
    'http://198.51.100.7/',
    'http://203.0.113.9/',
    'http://198.18.0.1/',
    'http://224.0.0.1/',
    'http://240.0.0.1/',
    'http://255.255.255.255/',
    'http://[::1]/',
    'http://[::]/',
    'http://[fe80::1]/',
    'http://[fc00::1]/',
    'http://[ff02::1]/',
    'http://[2001:db8::1]/',
    'http://[::ffff:127.0.0.1]/',
    'http://[::ffff:7f00:1]/',
    'http://user:pw@127.0.0.1:8080/',
  ];

  it.each(refused)('%s is not allowed', async (targetUrl) => {
    const answer = await demo.client.post('/v1/webhooks', { ...minimalSubscription, targetUrl });
    expect(faultsOf(answer)).toEqual(['targetUrl not_allowed']);
    const path = await demo.aSubscription();
    expect(faultsOf(await demo.client.put(path, { targetUrl }))).toEqual(['targetUrl not_allowed']);
  });

  it.each([
    'http://8.8.8.8/',
    'http://[2606:4700:4700::1111]/',
    'http://name.that.does.not.exist.example/',
    'http://intranet/',
    'https://host.example:80/',
    'http://host.example:443/x',
    'http://host.example:1024/',
    'HTTPS://Host.Example:8443/a/../b?c=%20d',
  ])('%s is taken and shown as it was sent', async (targetUrl) => {
    expect(await demo.shown(await demo.aSubscription({ targetUrl }))).toMatchObject({ targetUrl });
  });

  it('in an allowed network is taken, and only there', async () => {
    for (const targetUrl of ['http://10.1.2.3/', 'http://localhost:8080/', 'http://127.9.9.9/']) {
      await demo.aSubscription();
      const answer = await lenient.post('/v1/webhooks', { ...minimalSubscription, targetUrl });
      expect(answer.status).toBe(200);
    }
    for (const targetUrl of ['http://192.168.1.1/', 'http://[::1]/']) {
      const answer = await lenient.post('/v1/webhooks', { ...minimalSubscription, targetUrl });
      expect(faultsOf(answer)).toEqual(['targetUrl not_allowed']);
    }
  });

  it('that is stored may come back after its network was taken away', async () => {
    await demo.aSubscription();
    const created = await lenient.post('/v1/webhooks', {
      ...minimalSubscription,
      targetUrl: 'http://10.1.2.3/',
    });
    const path = new URL(created.json<{ href: string }>().href).pathname;
    const subscription = await demo.shown(path);
    expect((await demo.client.put(path, { ...subscription, enabled: false })).status).toBe(200);
    const other = { ...subscription, targetUrl: 'http://10.1.2.4/' };
    expect(faultsOf(await demo.client.put(path, other))).toEqual(['targetUrl not_allowed']);
  });

  it('that is refused is so before the subscription is looked for', async () => {
    const answer = await demo.client.put('/v1/webhooks/999999', { targetUrl: 'http://127.0.0.1/' });
    expect(faultsOf(answer)).toEqual(['targetUrl not_allowed']);
  });

  it('never shows its user information, and keeps it when its mask comes back', async () => {
    const targetUrl = 'https://user:p%40ss@target.example/hook?x=a@b';
    const path = await demo.aSubscription({ targetUrl });
    const answer = await demo.client.get(path);
    expect(answer.json()).toMatchObject({ targetUrl: 'https://***@target.example/hook?x=a@b' });
    expect((await demo.client.put(path, answer.json())).status).toBe(200);
    expect((await demo.client.get(path)).text).toBe(answer.text);
    const list = await demo.client.get('/v1/webhooks');
    expect(list.text).not.toContain('p%40ss');
    const [row] = await demo.database.query('SELECT target_url FROM webhooks WHERE id = $1', [
      path.split('/').at(-1),
    ]);
    expect(row).toEqual({ target_url: targetUrl });
  });

  it('is not changed by a mask of another one', async () => {
    const path = await demo.aSubscription({ targetUrl: 'https://user:pw@target.example/' });
    const answer = await demo.client.put(path, { targetUrl: 'https://***@other.example/' });
    expect(faultsOf(answer)).toEqual(['targetUrl format']);
  });
});
