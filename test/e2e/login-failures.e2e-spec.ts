import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { eventually } from '#tools/eventually';
import { createUser } from '../support/accounts.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { testRedisUrl } from '../support/environment.js';
import { forgetLogins } from '../support/forget-logins.js';
import { basic, type Call, type Client, clientOf } from '../support/http.js';
import { expectProblem } from '../support/problem.js';
import { apiInProcess } from '../support/in-process.js';
import { startApi } from '../support/processes.js';
import type { ServiceProcess } from '../support/service-process.js';
import { connectTo } from '../support/raw-connection.js';
import { proxyTo, type TcpProxy } from '../support/tcp-proxy.js';

const WINDOW_S = 15 * 60;
const PATH = '/v1/environments';

let database: TestDatabase;
let redis: TcpProxy;
let apis: ServiceProcess[];
let one: Client;
let other: Client;

beforeAll(async () => {
  database = await createTestDatabase();
  redis = await proxyTo(testRedisUrl().toString());
  const environment = {
    DATABASE_URL: database.url,
    REDIS_URL: redis.address,
    // The tests stand for clients behind a trusted proxy; other addresses, such as ::1, are not
    // trusted.
    TRUSTED_PROXIES: '127.0.0.1/32',
  };
  apis = await Promise.all([startApi(environment), startApi(environment)]);
  [one, other] = apis.map(({ url }) => clientOf(url)) as [Client, Client];
});
afterAll(async () => {
  await Promise.all(apis.map((api) => api.stop()));
  await redis.close();
  await database.drop();
});
// All tests call from one address, whose failures would add up.
beforeEach(forgetLogins);

const from = (address: string): Call => ({ headers: { 'x-forwarded-for': address } });

/** @returns the statuses of this many logins with wrong passwords */
async function fail(client: Client, username: string, times: number, call: Call = {}) {
  const statuses: number[] = [];
  for (let time = 0; time < times; time += 1) {
    const auth = `${username}:wrong ${Math.random()}`;
    statuses.push((await client.get(PATH, { ...call, auth })).status);
  }
  return statuses;
}

let users = 0;

/** A user whose name no earlier try of a test has used. */
async function aUser(name: string): Promise<{ username: string; auth: string }> {
  const username = `${name}-${(users += 1)}`;
  return { username, ...(await createUser(database, username)) };
}

const tooMany = { status: 429, code: 'rate_limited' };
const times = (count: number, status: number) => Array<number>(count).fill(status);

// If Redis takes longer than a process waits for it, as on a busy machine, each process counts alone: these are repeated.
describe('after ten failures in fifteen minutes', { retry: 2 }, () => {
  it('a username is refused from that address on every process, even with the right password', async () => {
    const { auth, username } = await aUser('blocked');
    expect(await fail(one, username, 5)).toEqual(times(5, 401));
    expect(await fail(other, username, 5)).toEqual(times(5, 401));
    for (const client of [one, other]) {
      for (const pair of [auth, `${username}:wrong`]) {
        const answer = await client.get(PATH, { auth: pair });
        expectProblem(answer, tooMany);
        const wait = Number(answer.headers['retry-after']);
        expect(wait).toBeGreaterThan(WINDOW_S - 60);
        expect(wait).toBeLessThanOrEqual(WINDOW_S);
      }
    }
  });

  it('an unknown username is refused in the same way', async () => {
    expect(await fail(one, 'unknown', 10)).toEqual(times(10, 401));
    expectProblem(await other.get(PATH, { auth: 'unknown:x' }), tooMany);
  });

  it('a pair that a process verified before is still let through by it', async () => {
    const { auth, username } = await aUser('known');
    expect((await one.get(PATH, { auth })).status).toBe(200);
    await fail(one, username, 10);
    expect((await one.get(PATH, { auth })).status).toBe(200);
    expectProblem(await other.get(PATH, { auth }), tooMany);
  });

  it('the refusal precedes reading the body and every other check', async () => {
    await fail(one, 'early', 10);
    const connection = await connectTo(apis[0]!.url);
    connection.write(
      `POST /v1/nothing HTTP/1.1\r\nHost: x\r\nAuthorization: ${basic('early:x')}\r\n` +
        'Content-Type: text/plain\r\nContent-Length: 100000\r\n\r\n',
    );
    await connection.until(/^HTTP\/1\.1 429 [^]*"code":"rate_limited"/);
    connection.destroy();
  });

  it('a header without a readable pair is still answered with 401', async () => {
    for (let time = 0; time < 15; time += 1) {
      expect((await one.get(PATH, { headers: { authorization: 'Basic !' } })).status).toBe(401);
    }
  });

  it('at most ten of many concurrent passwords are checked', async () => {
    const { username } = await aUser('at-once');
    const all = Array.from({ length: 40 }, (_, index) =>
      (index % 2 ? one : other).get(PATH, { auth: `${username}:wrong ${index}` }),
    );
    const statuses = (await Promise.all(all)).map(({ status }) => status);
    // A busy machine answers 503 to logins that it did not check, and does not count them.
    expect(statuses.every((status) => [401, 429, 503].includes(status))).toBe(true);
    const tried = statuses.filter((status) => status === 401).length;
    expect(tried).toBeGreaterThan(0);
    expect(tried).toBeLessThanOrEqual(10);
  });
});

describe('after a hundred failures in fifteen minutes', { retry: 2 }, () => {
  it('an address is refused on every process, whatever the username, and no other address is', async () => {
    const { auth } = await aUser('neighbour');
    const { auth: known } = await aUser('known-neighbour');
    const flooded = from('198.51.100.7');
    for (const client of [one, other]) {
      expect((await client.get(PATH, { ...flooded, auth: known })).status).toBe(200);
    }
    const statuses = await Promise.all(
      Array.from({ length: 120 }, async (_, index) => {
        const pair = `guessed-${index % 60}:wrong ${index}`;
        return (await (index % 2 ? one : other).get(PATH, { ...flooded, auth: pair })).status;
      }),
    );
    expect(statuses.filter((status) => status === 401).length).toBeLessThanOrEqual(100);
    // On a busy machine, some of them have waited too long and do not count.
    let rest = 0;
    await eventually(
      () => fail(one, `rest-${(rest += 1)}`, 1, flooded),
      ([status]) => status === 429,
    );
    for (const client of [one, other]) {
      const refused = await client.get(PATH, { ...flooded, auth });
      expectProblem(refused, tooMany);
      expect(Number(refused.headers['retry-after'])).toBeGreaterThan(WINDOW_S - 120);
      expect((await client.get(PATH, { ...flooded, auth: known })).status).toBe(200);
    }
    expect((await one.get(PATH, { ...from('198.51.100.8'), auth })).status).toBe(200);
  });

  it('a right password among the wrong ones does not reset the count', async () => {
    const { auth } = await aUser('accomplice');
    const flooded = from('198.51.100.9');
    for (let round = 0; round < 12; round += 1) {
      await fail(one, `victim-${round}`, 9, flooded);
      // On another process, each one is a first login.
      await other.get(PATH, { ...flooded, auth });
    }
    expectProblem(await one.get(PATH, { ...flooded, auth: 'victim:x' }), tooMany);
  });
});

describe('the address of a client', () => {
  it('comes from a trusted proxy, and is the last one that is not trusted', async () => {
    const { auth } = await createUser(database, 'proxied');
    await fail(one, 'proxied', 10, from('198.51.100.1'));
    expectProblem(await one.get(PATH, { ...from('198.51.100.1'), auth }), tooMany);
    const forged = from('203.0.113.9, 198.51.100.1');
    expectProblem(await one.get(PATH, { ...forged, auth }), tooMany);
    expect((await one.get(PATH, { ...from('198.51.100.2'), auth })).status).toBe(200);
  });

  it('is not taken from headers of an untrusted sender', async () => {
    const api = await apiInProcess({ DATABASE_URL: database.url, REDIS_URL: redis.address });
    const direct = clientOf(api.url);
    const statuses: number[] = [];
    // A stall of Redis on a busy machine leaves some uncounted.
    while (statuses.length < 50 && !statuses.includes(429)) {
      statuses.push(...(await fail(direct, 'forger', 1, from(`203.0.113.${statuses.length}`))));
    }
    expect(statuses).toEqual([...times(statuses.length - 1, 401), 429]);
    expect(statuses.length).toBeGreaterThan(10);
    await api.stop();
  });

  it('comes from a trusted proxy with a port, and a port makes no new one', async () => {
    const { auth } = await createUser(database, 'ported');
    for (let port = 1; port <= 10; port += 1) {
      await fail(one, 'ported', 1, from(`203.0.113.9, 198.51.100.3:${port}, 127.0.0.1:${port}`));
    }
    const mapped = '::ffff:198.51.100.3, [::ffff:127.0.0.1]:4, 127.0.0.1';
    for (const address of ['198.51.100.3', '198.51.100.3:11', mapped]) {
      expectProblem(await one.get(PATH, { ...from(address), auth }), tooMany);
    }
    expect((await one.get(PATH, { ...from('198.51.100.4:1'), auth })).status).toBe(200);
  });

  it("is the proxy's own address, if the forwarded value is not an address", async () => {
    const { auth } = await createUser(database, 'nameless');
    for (let time = 0; time < 10; time += 1) {
      await fail(one, 'nameless', 1, from(`203.0.113.${time}, unknown:${time}, 127.0.0.1:${time}`));
    }
    expectProblem(await one.get(PATH, { ...from('_hidden'), auth }), tooMany);
    expectProblem(await one.get(PATH, { auth }), tooMany);
    expect((await one.get(PATH, { ...from('198.51.100.5'), auth })).status).toBe(200);
  });

  it('counts as its /64 network if it is IPv6', async () => {
    for (let time = 0; time < 10; time += 1) {
      const address = `2001:db8:0:7::${time + 1}`;
      await fail(one, 'sixer', 1, from(time % 2 ? address : `[${address}]:${4_000 + time}`));
    }
    const auth = 'sixer:x';
    expectProblem(await one.get(PATH, { ...from('2001:db8:0:7:ffff::1'), auth }), tooMany);
    expect((await one.get(PATH, { ...from('2001:db8:0:8::1'), auth })).status).toBe(401);
  });
});

describe.each<[how: string, cut: () => void]>([
  // This one runs first, because it freezes connections that exist already.
  ['silent', () => redis.freeze()],
  ['away', () => redis.down()],
])('with Redis %s', (how, cut) => {
  it('each process counts alone, and no login waits long for Redis', async () => {
    const username = `alone-${how}`;
    const { auth } = await createUser(database, username);
    cut();
    try {
      const start = performance.now();
      await Promise.all(
        [one, other].map(async (client) => {
          expect(await fail(client, username, 10)).toEqual(times(10, 401));
          expectProblem(await client.get(PATH, { auth }), tooMany);
        }),
      );
      expect(performance.now() - start).toBeLessThan(20_000);
    } finally {
      redis.down();
      redis.up();
    }
  });
});
