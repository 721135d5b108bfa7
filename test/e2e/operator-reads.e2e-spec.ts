import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createUser } from '../support/accounts.js';
import { type DemoAccount, startDemoAccount } from '../support/demo-account.js';
import { type Client, clientOf } from '../support/http.js';

let demo: DemoAccount;
let operator: Client;
let stranger: { id: string; client: Client };
let application: string;
let webhook: string;
let inApplication: string;
/** The parameter that names the customer's account. */
let of: string;

beforeAll(async () => {
  demo = await startDemoAccount();
  operator = clientOf(demo.api.url, (await createUser(demo.database, 'switch', 'platform')).auth);
  const other = await createUser(demo.database, 'stranger');
  stranger = { id: other.id, client: clientOf(demo.api.url, other.auth) };
  application = await demo.anApplication();
  webhook = await demo.aSubscription({
    targetUrl: 'https://user:password@hooks.example.com/',
    headers: { 'X-Api-Key': 'f2c1a0b9' },
  });
  const body = { event: 'cdrRated', resource: 'all', targetUrl: 'https://hooks.example.com/' };
  const made = await demo.client.post(`${application}/webhooks`, body);
  inApplication = new URL(made.headers.location!).pathname;
  of = `?accountId=${demo.id}`;
});
afterAll(() => demo.stop());

const read = async (path: string, client = operator) => {
  const { status, text } = await client.get(path);
  return [status, JSON.parse(text) as unknown];
};

/** The entries of the customer's audit that an operator has caused, oldest first. */
async function noted(): Promise<unknown[]> {
  const rows = await demo.client.get('/v1/audit?limit=1000');
  return rows
    .json<{ action: string; resourceId: string; actor: string; userId?: number }[]>()
    .filter(({ actor }) => actor === 'platform')
    .map(({ action, resourceId, userId }) => [action, resourceId, userId])
    .reverse();
}

async function anOperator(username: string): Promise<Client> {
  return clientOf(demo.api.url, (await createUser(demo.database, username, 'operator')).auth);
}

const entries = async () => (await demo.database.query('SELECT FROM audit')).length;
const idOf = (path: string) => path.split('/').at(-1)!;

describe('an operator', () => {
  it("reads a customer's applications and subscriptions as the customer does", async () => {
    for (const path of [
      '/v1/applications',
      application,
      '/v1/webhooks',
      webhook,
      inApplication,
      `${application}/webhooks`,
      `${application}/webhooks/${idOf(inApplication)}`,
    ]) {
      expect([path, await read(path + of)]).toEqual([path, await read(path, demo.client)]);
    }
    const scope = '/v1/webhooks?scope=all&include=activity';
    expect(await read(`${scope}&accountId=${demo.id}`)).toEqual(await read(scope, demo.client));
  });

  it('sees no secret', async () => {
    const { text } = await operator.get(webhook + of);
    for (const secret of ['password', 'f2c1a0b9', 'whsec_']) expect(text).not.toContain(secret);
    expect((await operator.get(`${webhook}/secret${of}`)).status).toBe(404);
  });

  it('changes nothing', async () => {
    const before = await read(webhook, demo.client);
    for (const path of [webhook, application, `${application}/webhooks/${idOf(inApplication)}`]) {
      expect((await operator.put(path + of, { name: 'theirs' })).status).toBe(404);
      expect((await operator.delete(path + of)).status).toBe(404);
    }
    for (const action of ['pause', 'resume', 'test', 'secret/rotate']) {
      expect((await operator.post(`${webhook}/${action}${of}`)).status).toBe(404);
    }
    const body = { event: 'cdrRated', resource: 'all', targetUrl: 'https://hooks.example.com/' };
    expect((await operator.post(`${application}/webhooks${of}`, body)).status).toBe(404);
    expect(await read(webhook, demo.client)).toEqual(before);
  });

  it('finds only its own without the parameter, and nothing under a wrong account', async () => {
    for (const path of [webhook, application, inApplication]) {
      expect((await operator.get(path)).status).toBe(404);
      expect((await operator.get(`${path}?accountId=${stranger.id}`)).status).toBe(404);
    }
    for (const list of ['/v1/webhooks', '/v1/applications']) {
      expect(await read(list)).toEqual([200, []]);
      expect(await read(`${list}?accountId=${stranger.id}`)).toEqual([200, []]);
    }
  });

  it("leaves one entry in the customer's audit for a list or resource that it reads twice", async () => {
    const visitor = await anOperator('visitor');
    const before = (await noted()).length;
    for (const path of [
      `/v1/webhooks${of}`,
      `/v1/applications${of}&limit=1`,
      webhook + of,
      application + of,
      `/v1/webhooks/999999${of}`,
      '/v1/webhooks',
      webhook,
    ]) {
      await visitor.get(path);
      await visitor.get(path);
    }
    const visit = [
      ['user.list_webhooks', demo.id, undefined],
      ['user.list_applications', demo.id, undefined],
      ['webhook.show', idOf(webhook), undefined],
      ['application.show', idOf(application), undefined],
    ];
    expect((await noted()).slice(before)).toEqual(visit);
    await (await anOperator('other')).get(application + of);
    expect((await noted()).slice(before)).toEqual([...visit, visit.at(-1)]);
  });

  it('finds nothing under an account that does not exist, which leaves no entry', async () => {
    const before = await entries();
    for (const unknown of ['0', '999999', '9223372036854775807', 'x']) {
      for (const list of ['/v1/webhooks', '/v1/applications']) {
        expect(await read(`${list}?accountId=${unknown}`)).toEqual([200, []]);
      }
      for (const path of [webhook, application, `${application}/webhooks`]) {
        expect((await operator.get(`${path}?accountId=${unknown}`)).status).toBe(404);
      }
    }
    expect(await entries()).toBe(before);
  });
});

describe('a customer', () => {
  it('has no account but its own', async () => {
    for (const path of ['/v1/webhooks', '/v1/applications']) {
      expect(await read(path + of, demo.client)).toEqual(await read(path, demo.client));
      expect(await read(path + of, stranger.client)).toEqual([200, []]);
    }
    for (const path of [webhook, application, inApplication]) {
      expect(await read(path + of, demo.client)).toEqual(await read(path, demo.client));
      expect((await stranger.client.get(path + of)).status).toBe(404);
      expect((await demo.client.get(`${path}?accountId=${stranger.id}`)).status).toBe(404);
    }
  });

  it('leaves no entry by reading', async () => {
    const before = await entries();
    await demo.client.get(`/v1/webhooks${of}`);
    await demo.client.get(webhook);
    await stranger.client.get(webhook + of);
    expect(await entries()).toBe(before);
  });
});
