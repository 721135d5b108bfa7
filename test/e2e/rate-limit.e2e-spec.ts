import { Redis } from 'ioredis';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createUser } from '../support/accounts.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { testRedisUrl } from '../support/environment.js';
import { type Answer, type Client, clientOf } from '../support/http.js';
import { apiInProcess, type Running } from '../support/in-process.js';
import { expectProblem } from '../support/problem.js';
import { connectTo } from '../support/raw-connection.js';

const tooMany = { status: 429, code: 'rate_limited' };

let database: TestDatabase;
let apis: Running[];

beforeAll(async () => {
  await forgetRates();
  database = await createTestDatabase();
  const environment = { DATABASE_URL: database.url, RATE_LIMIT: '5/h' };
  apis = await Promise.all([apiInProcess(environment), apiInProcess(environment)]);
});
afterAll(async () => {
  await Promise.all(apis.map((api) => api.stop()));
  await database.drop();
  await forgetRates();
});

/** Accounts of other databases have the same ids. */
function forgetRates(): Promise<void> {
  return withRedis(async (redis) => {
    const keys = await redis.keys('switchhook:rate:*');
    if (keys.length > 0) await redis.del(keys);
  });
}

async function withRedis<Result>(use: (redis: Redis) => Promise<Result>): Promise<Result> {
  const redis = new Redis(testRedisUrl().toString());
  try {
    return await use(redis);
  } finally {
    redis.disconnect();
  }
}

async function clientsOf(username: string, role?: 'platform'): Promise<[Client, Client]> {
  const { auth } = await createUser(database, username, role);
  return apis.map(({ url }) => clientOf(url, auth)) as [Client, Client];
}

const fields = ({ headers }: Answer) => [headers['ratelimit-policy'], headers['ratelimit']];

it("all processes share an account's limit, and every answer says how many requests are left", async () => {
  const [one, other] = await clientsOf('limited');
  const answers = [
    await one.get('/v1/applications'),
    await other.get('/v1/nothing'),
    await one.post('/v1/applications', {}),
    await other.get('/v1/users'),
    await one.head('/v1/applications'),
  ];
  expect(answers.map(({ status }) => status)).toEqual([200, 404, 400, 403, 200]);
  for (const [index, answer] of answers.entries()) {
    const [policy, limit] = fields(answer);
    expect(policy).toBe('"account";q=5;w=3600');
    const [, left, seconds] = /^"account";r=(\d);t=(\d+)$/.exec(String(limit)) ?? [];
    expect(Number(left)).toBe(4 - index);
    expect(Number(seconds)).toBeGreaterThan(720 - 60);
    expect(Number(seconds)).toBeLessThanOrEqual(720);
  }
});

it('an account over its limit is answered with 429, whatever the path', async () => {
  const [one, other] = await clientsOf('greedy');
  for (let time = 0; time < 5; time += 1) await one.get('/v1/applications');
  for (const answer of [
    await one.get('/v1/applications'),
    await other.get('/v1/nothing'),
    await other.delete('/v1/applications'),
    await other.post('/v1/users', 'no JSON', { headers: { 'content-type': 'text/plain' } }),
  ]) {
    expectProblem(answer, tooMany);
    const wait = Number(answer.headers['retry-after']);
    expect(wait).toBeGreaterThan(720 - 60);
    expect(fields(answer)).toEqual(['"account";q=5;w=3600', `"account";r=0;t=${wait}`]);
  }
  const [stranger] = await clientsOf('modest');
  expect((await stranger.get('/v1/applications')).status).toBe(200);
  const without = await clientOf(apis[0]!.url).get('/v1/applications');
  expect([without.status, ...fields(without)]).toEqual([401, undefined, undefined]);
});

it('a request over the limit is answered before its body arrives', async () => {
  const [one] = await clientsOf('sender');
  for (let time = 0; time < 5; time += 1) await one.get('/v1/applications');
  const connection = await connectTo(apis[0]!.url);
  const pair = Buffer.from('sender:sender-secret').toString('base64');
  connection.write(
    `POST /v1/applications HTTP/1.1\r\nHost: x\r\nAuthorization: Basic ${pair}\r\n` +
      'Content-Type: application/json\r\nContent-Length: 100000\r\n\r\n',
  );
  await connection.until(/^HTTP\/1\.1 429 [^]*"code":"rate_limited"/);
  connection.destroy();
});

it('the platform and public paths have no limit, and their answers mention none', async () => {
  const [platform] = await clientsOf('switch', 'platform');
  for (let time = 0; time < 8; time += 1) {
    const answer = await platform.get('/v1/events');
    expect([answer.status, ...fields(answer)]).toEqual([200, undefined, undefined]);
    expect((await platform.get('/health/live')).status).toBe(200);
  }
});

it('without RATE_LIMIT the limit is 60,000 a minute, and a process takes sixty requests at a time from Redis', async () => {
  const api = await apiInProcess({ DATABASE_URL: database.url });
  const { auth } = await createUser(database, 'usual');
  const client = clientOf(api.url, auth);
  for (let time = 0; time < 61; time += 1) {
    // The process took sixty requests in advance with the first.
    await forgetRates();
    const answer = await client.get('/v1/applications');
    const [policy, limit] = fields(answer);
    expect([answer.status, policy]).toEqual([200, '"account";q=60000;w=60']);
    expect(String(limit)).toBe(`"account";r=${59_999 - (time % 60)};t=1`);
  }
  await api.stop();
});
