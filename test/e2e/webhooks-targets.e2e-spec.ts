import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  type DemoAccount,
  faultsOf,
  minimalSubscription,
  startDemoAccount,
} from '../support/demo-account.js';
import { type Client, clientOf } from '../support/http.js';
import { apiInProcess, type InProcess } from '../support/in-process.js';
import { MALFORMED_HOSTS, REFUSED_HOSTS } from '../support/targets.js';

let demo: DemoAccount;
/** The same database, with other allowed targets. */
let lenientApi: InProcess;
let lenient: Client;

beforeAll(async () => {
  demo = await startDemoAccount();
  lenientApi = await apiInProcess({
    DATABASE_URL: demo.database.url,
    DELIVERY_ALLOWED_NETWORKS: '10.0.0.0/8,127.0.0.0/8',
    DELIVERY_DENIED_NETWORKS: '10.9.0.0/16,9.255.0.0/16,2003::/16',
  });
  lenient = clientOf(lenientApi.url, demo.auth);
});
afterAll(async () => {
  await lenientApi.stop();
  await demo.stop();
});

describe('a target', () => {
  // A sample: outbound-guard.int-spec.ts checks the same rules with the whole table.
  const sampled = (hosts: readonly string[]) => hosts.filter((_, index) => index % 4 === 0);

  it.each(Object.entries(REFUSED_HOSTS))('at %s is not allowed', async (_kind, hosts) => {
    const path = await demo.aSubscription();
    for (const host of sampled(hosts)) {
      const targetUrl = `http://user:pw@${host}:8080/hook`;
      const created = await demo.client.post('/v1/webhooks', { ...minimalSubscription, targetUrl });
      expect([host, faultsOf(created)]).toEqual([host, ['targetUrl not_allowed']]);
      const updated = await demo.client.put(path, { targetUrl });
      expect([host, faultsOf(updated)]).toEqual([host, ['targetUrl not_allowed']]);
    }
  });

  it.each([
    ['134744072', 200],
    ['8。8。8。8', 200],
    ['[2A00:1450:4001:81B::200E]', 200],
    ['9.255.255.255', 400],
    ['0x9.0xff.1', 400],
    ['[2003::1]', 400],
  ])(
    'at the public address %s is accepted; where networks are denied, the status is %d',
    async (host, status) => {
      const targetUrl = `http://${host}/`;
      const path = await demo.aSubscription({ targetUrl: 'http://target.example/' });
      const denied = await lenient.put(path, { targetUrl });
      expect(denied.status).toBe(status);
      if (status === 400) expect(faultsOf(denied)).toEqual(['targetUrl not_allowed']);
      expect((await demo.client.put(path, { targetUrl })).status).toBe(200);
      expect(await demo.shown(path)).toMatchObject({ targetUrl });
    },
  );

  it('with a malformed host is no URL', async () => {
    for (const host of sampled(MALFORMED_HOSTS)) {
      const body = { ...minimalSubscription, targetUrl: `http://${host}/` };
      const answer = await demo.client.post('/v1/webhooks', body);
      expect([host, faultsOf(answer)]).toEqual([host, ['targetUrl format']]);
    }
  });

  it.each([
    'http://name.that.does.not.exist.example/',
    'http://intranet/',
    'https://host.example:80/',
    'http://host.example:443/x',
    'http://host.example:1024/',
    'HTTPS://Host.Example:8443/a/../b?c=%20d',
  ])('%s is accepted and shown as it was sent', async (targetUrl) => {
    expect(await demo.shown(await demo.aSubscription({ targetUrl }))).toMatchObject({ targetUrl });
  });

  it('in an allowed network is accepted, and in no other', async () => {
    for (const targetUrl of ['http://10.1.2.3/', 'http://localhost:8080/', 'http://127.9.9.9/']) {
      await demo.aSubscription();
      const answer = await lenient.post('/v1/webhooks', { ...minimalSubscription, targetUrl });
      expect(answer.status).toBe(200);
    }
    for (const targetUrl of ['http://192.168.1.1/', 'http://[::1]/', 'http://10.9.2.3/']) {
      const answer = await lenient.post('/v1/webhooks', { ...minimalSubscription, targetUrl });
      expect(faultsOf(answer)).toEqual(['targetUrl not_allowed']);
    }
  });

  it('at the port of another service is not allowed', async () => {
    for (const targetUrl of ['http://target.example:25/', 'https://target.example:587/']) {
      const path = await demo.aSubscription();
      const created = await demo.client.post('/v1/webhooks', { ...minimalSubscription, targetUrl });
      expect(faultsOf(created)).toEqual(['targetUrl not_allowed']);
      expect(faultsOf(await demo.client.put(path, { targetUrl }))).toEqual([
        'targetUrl not_allowed',
      ]);
    }
  });

  it.each([
    ['network', 'http://10.1.2.3/', 'http://10.1.2.4/'],
    ['port', 'http://target.example:25/x', 'http://target.example:25/y'],
  ])(
    'that is stored may be sent back when its %s is no longer allowed',
    async (_what, stored, other) => {
      const path = await demo.aSubscription();
      const id = path.split('/').at(-1);
      await demo.database.query('UPDATE webhooks SET target_url = $1 WHERE id = $2', [stored, id]);
      const subscription = await demo.shown(path);
      expect((await demo.client.put(path, { ...subscription, enabled: false })).status).toBe(200);
      const changed = await demo.client.put(path, { ...subscription, targetUrl: other });
      expect(faultsOf(changed)).toEqual(['targetUrl not_allowed']);
    },
  );

  it('is checked before the subscription is looked up', async () => {
    const answer = await demo.client.put('/v1/webhooks/999999', { targetUrl: 'http://127.0.0.1/' });
    expect(faultsOf(answer)).toEqual(['targetUrl not_allowed']);
  });

  it('never shows its user information, and keeps it when the mask is sent back', async () => {
    const targetUrl = 'https://user:p%40ss@target.example/hook?x=a@b';
    const shown = 'https://***@target.example/hook?x=a@b';
    const path = await demo.aSubscription({ targetUrl });
    const stored = () =>
      demo.database.query(
        'SELECT target_url, userinfo, target_version FROM webhooks WHERE id = $1',
        [path.split('/').at(-1)],
      );
    const before = await stored();
    const answer = await demo.client.get(path);
    expect(answer.json()).toMatchObject({ targetUrl: shown });
    expect((await demo.client.put(path, answer.json())).status).toBe(200);
    expect((await demo.client.put(path, { targetUrl })).status).toBe(200);
    expect((await demo.client.get(path)).text).toBe(answer.text);
    const list = await demo.client.get('/v1/webhooks');
    expect(list.text).not.toContain('p%40ss');
    const userinfo = expect.stringMatching(/^sealed:test:[\w-]+$/) as string;
    expect(before).toEqual([{ target_url: shown, userinfo, target_version: 1 }]);
    expect(await stored()).toEqual(before);
  });

  it('counts as a new one if only its user information differs, which only the version shows', async () => {
    const path = await demo.aSubscription({ targetUrl: 'https://user:pw@target.example/' });
    await demo.database.query("UPDATE webhooks SET hold_until = now() + interval '1 h'");
    const before = await demo.client.get(path);
    expect(
      (await demo.client.put(path, { targetUrl: 'https://user:new@target.example/' })).status,
    ).toBe(200);
    const after = await demo.client.get(path);
    expect(after.json()['targetUrl']).toBe(before.json()['targetUrl']);
    expect(after.headers.etag).not.toBe(before.headers.etag);
    expect(
      await demo.database.query('SELECT target_version, hold_until FROM webhooks WHERE id = $1', [
        path.split('/').at(-1),
      ]),
    ).toEqual([{ target_version: 2, hold_until: null }]);
  });

  it('is not changed by the mask of another one', async () => {
    const path = await demo.aSubscription({ targetUrl: 'https://user:pw@target.example/' });
    const answer = await demo.client.put(path, { targetUrl: 'https://***@other.example/' });
    expect(faultsOf(answer)).toEqual(['targetUrl format']);
  });
});
