import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createUser } from '../support/accounts.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { type Answer, type Client, clientOf } from '../support/http.js';
import { apiInProcess, type Running } from '../support/in-process.js';

const LIMIT = 10;
const ATTEMPTS = 50;

let database: TestDatabase;
let apis: Running[];
let users = 0;

beforeAll(async () => {
  database = await createTestDatabase();
  apis = await Promise.all([
    apiInProcess({ DATABASE_URL: database.url }),
    apiInProcess({ DATABASE_URL: database.url }),
  ]);
});
afterAll(async () => {
  await Promise.all(apis.map((api) => api.stop()));
  await database.drop();
});

const body = { event: 'smsdlr', resource: 'all', targetUrl: 'https://target.example/' };

/** Clients of both APIs for a new account. */
async function anAccount(): Promise<[Client, Client]> {
  users += 1;
  const { auth } = await createUser(database, `account${users}`);
  return apis.map(({ url }) => clientOf(url, auth)) as [Client, Client];
}

/** @returns the path of its collection of subscriptions */
async function anApplication(client: Client): Promise<string> {
  const answer = await client.post('/v1/applications', { name: 'a', voiceUrl: 'http://v/' });
  return `${new URL(answer.json<{ href: string }>().href).pathname}/webhooks`;
}

function createMany(clients: [Client, Client], path: string, count: number): Promise<Answer[]> {
  return Promise.all(
    Array.from({ length: count }, (_, index) => clients[index % 2 === 0 ? 0 : 1].post(path, body)),
  );
}

function refusals(answers: Answer[], level: string): number {
  const refused = answers.filter(({ status }) => status !== 200);
  for (const answer of refused) {
    expect(answer.status).toBe(403);
    const problem = answer.json<{ code: string; error: string }>();
    expect(problem.code).toBe('webhook_limit_reached');
    expect(problem.error).toMatch(new RegExp(`^The ${level} has ${LIMIT} `));
  }
  return refused.length;
}

async function count(client: Client, path: string): Promise<number> {
  return (await client.get(path)).json<object[]>().length;
}

describe('exactly ten of many concurrent creations through two processes succeed', () => {
  it('at account level', async () => {
    const clients = await anAccount();
    const answers = await createMany(clients, '/v1/webhooks', ATTEMPTS);
    expect(refusals(answers, 'account')).toBe(ATTEMPTS - LIMIT);
    expect(await count(clients[0], '/v1/webhooks?scope=all')).toBe(LIMIT);
  });

  it('for one application', async () => {
    const clients = await anAccount();
    const path = await anApplication(clients[0]);
    const answers = await createMany(clients, path, ATTEMPTS);
    expect(refusals(answers, 'application')).toBe(ATTEMPTS - LIMIT);
    expect(await count(clients[1], path)).toBe(LIMIT);
  });

  it('at every level at the same time', async () => {
    const [one, other] = [await anAccount(), await anAccount()];
    const paths = [await anApplication(one[0]), await anApplication(one[0])];
    const [ofAccount, ofFirst, ofSecond, ofOther] = await Promise.all([
      createMany(one, '/v1/webhooks', 15),
      createMany(one, paths[0]!, 15),
      createMany(one, paths[1]!, 15),
      createMany(other, '/v1/webhooks', 15),
    ]);
    expect(refusals(ofAccount, 'account')).toBe(5);
    expect(refusals(ofFirst, 'application')).toBe(5);
    expect(refusals(ofSecond, 'application')).toBe(5);
    expect(refusals(ofOther, 'account')).toBe(5);
    expect(await count(one[1], '/v1/webhooks?scope=all')).toBe(3 * LIMIT);
  });

  it('and never more than ten exist, while others are being deleted', async () => {
    const clients = await anAccount();
    await createMany(clients, '/v1/webhooks', LIMIT);
    const present = (await clients[0].get('/v1/webhooks')).json<{ id: string }[]>();
    await Promise.all([
      ...present.slice(0, 5).map(({ id }) => clients[0].delete(`/v1/webhooks/${id}`)),
      createMany(clients, '/v1/webhooks', 20),
    ]);
    expect(await count(clients[0], '/v1/webhooks')).toBeLessThanOrEqual(LIMIT);
    await createMany(clients, '/v1/webhooks', 20);
    expect(await count(clients[0], '/v1/webhooks')).toBe(LIMIT);
  });
});

describe('a level with ten subscriptions', () => {
  it('counts subscriptions that are disabled, and has room again after a deletion', async () => {
    const clients = await anAccount();
    await createMany(clients, '/v1/webhooks', LIMIT);
    const [first] = (await clients[0].get('/v1/webhooks')).json<{ id: string }[]>();
    const path = `/v1/webhooks/${first!.id}`;
    expect((await clients[0].put(path, { enabled: false })).status).toBe(200);
    expect(refusals(await createMany(clients, '/v1/webhooks', 1), 'account')).toBe(1);
    expect((await clients[0].delete(path)).status).toBe(200);
    expect(refusals(await createMany(clients, '/v1/webhooks', 2), 'account')).toBe(1);
  });

  it('allows changes of its subscriptions', async () => {
    const clients = await anAccount();
    await createMany(clients, '/v1/webhooks', LIMIT);
    const [first] = (await clients[0].get('/v1/webhooks')).json<{ id: string }[]>();
    const answer = await clients[0].put(`/v1/webhooks/${first!.id}`, { resource: 'sms' });
    expect(answer.status).toBe(200);
  });

  it('is reported only after every other fault', async () => {
    const clients = await anAccount();
    await createMany(clients, '/v1/webhooks', LIMIT);
    expect((await clients[0].post('/v1/webhooks', {})).status).toBe(400);
  });

  it('does not fill another level', async () => {
    const clients = await anAccount();
    await createMany(clients, '/v1/webhooks', LIMIT);
    const path = await anApplication(clients[0]);
    expect(refusals(await createMany(clients, path, LIMIT), 'application')).toBe(0);
    const secondPath = await anApplication(clients[0]);
    expect(refusals(await createMany(clients, secondPath, 1), 'application')).toBe(0);
  });
});
