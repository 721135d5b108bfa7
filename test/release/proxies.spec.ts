import { once } from 'node:events';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import http, { createServer, type IncomingMessage, type Server, STATUS_CODES } from 'node:http';
import https from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { requireProgram } from '#tools/apt';
import { ROOT } from '#tools/settings';
import { eventually } from '#tools/eventually';
import { createUser } from '../support/accounts.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { basic, clientOf } from '../support/http.js';
import { programs, startApi } from '../support/processes.js';
import { EXAMPLES, ReverseProxy } from '../support/reverse-proxy.js';
import type { ServiceProcess } from '../support/service-process.js';

for (const { program } of Object.values(EXAMPLES)) await requireProgram(program);

const CLIENT = '127.0.0.2';

let database: TestDatabase;
let dir: string;
let customer: { id: string; auth: string };
let platform: { id: string; auth: string };

beforeAll(async () => {
  database = await createTestDatabase();
  [customer, platform] = [
    await createUser(database, 'customer'),
    await createUser(database, 'switch', 'platform'),
  ];
});
afterAll(() => database.drop());
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'proxy-'));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

interface Sent {
  auth?: string;
  headers?: Record<string, string | string[]>;
  body?: unknown;
  agent?: http.Agent;
}

const protocolOf = (url: string) => (url.startsWith('https:') ? https : http);

/** Sends a request from the client's own address, as no proxy has. @returns the answer, with its body to be read */
async function open(method: string, url: string, { auth, headers, body, agent }: Sent = {}) {
  const request = protocolOf(url).request(url, {
    method,
    agent: agent ?? false,
    localAddress: CLIENT,
    rejectUnauthorized: false,
    headers: {
      ...(auth !== undefined && { authorization: basic(auth) }),
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...headers,
    },
  });
  // An answer may come before its request was sent whole.
  request.on('error', () => undefined);
  request.end(body === undefined ? undefined : JSON.stringify(body));
  const [answer] = (await once(request, 'response')) as [IncomingMessage];
  return answer.setEncoding('utf8');
}

async function send(method: string, url: string, sent?: Sent) {
  const answer = await open(method, url, sent);
  let text = '';
  for await (const part of answer) text += part as string;
  return { status: answer.statusCode, headers: answer.headers, text };
}

/** Checks an error that the proxy answers itself. */
function expectUnanswered({ status, headers, text }: Awaited<ReturnType<typeof send>>): void {
  expect([502, 503]).toContain(status);
  expect(headers).toMatchObject({
    'content-type': expect.stringMatching(/^application\/problem\+json(?:;|$)/) as string,
    'retry-after': '5',
  });
  const error = 'The proxy got no answer from the API.';
  const [type, title] = ['about:blank', STATUS_CODES[status!]];
  const problem = { type, title, status, detail: error, code: 'unavailable', error };
  expect(JSON.parse(text)).toEqual(problem);
}

it('there is a test of every example', () => {
  const files = readdirSync(join(ROOT, 'tools/proxies'));
  const examples = Object.values(EXAMPLES).map(({ file }) => file);
  expect(files.sort()).toEqual([...examples, 'accounts.map'].sort());
});

// What an example has to do stands here, for all of them. Those that terminate TLS are what clients reach.
describe.each(Object.keys(EXAMPLES) as (keyof typeof EXAMPLES)[])('the example %s', (name) => {
  const { terminatesTls } = EXAMPLES[name];

  describe('in front of two API processes', () => {
    let apis: [ServiceProcess, ServiceProcess];
    let proxy: ReverseProxy;
    let reported = 0;

    beforeEach(async () => {
      const environment = {
        DATABASE_URL: database.url,
        TRUSTED_PROXIES: '127.0.0.1',
        SHUTDOWN_DELAY_MS: '3000',
      };
      apis = await Promise.all([startApi(environment), startApi(environment)]);
      proxy = await ReverseProxy.start(name, [apis[0].port, apis[1].port], dir, programs);
    });
    afterEach(async () => {
      await proxy.stop();
      await Promise.all(apis.map((api) => api.stop()));
    });

    const report = (events = 1, size = 0) => {
      const data = 'x'.repeat(size);
      const event = { event: 'cdrCreated', resource: 'call', accountId: customer.id, data };
      const body = { events: Array<object>(events).fill(event) };
      reported += events;
      return send('POST', `${proxy.url}/v1/events/batch`, { auth: platform.auth, body });
    };
    /** Reports events without a pause, four at a time, until the work is done. @returns the statuses of the answers */
    const reportDuring = async (work: () => Promise<unknown>) => {
      const statuses: (number | undefined)[] = [];
      let isDone = false;
      const clients = Array.from({ length: 4 }, async () => {
        while (!isDone) statuses.push((await report()).status);
      });
      await work();
      isDone = true;
      await Promise.all(clients);
      return statuses;
    };

    const whose = terminatesTls ? 'instead of forged ones' : 'as the proxy in front of it says';
    it(`hands on the client and the address that it used, ${whose}`, async () => {
      const [forged, proto] = ['forged.example', terminatesTls ? 'http' : 'https'];
      const headers = {
        'x-forwarded-for': '203.0.113.9',
        'x-forwarded-host': forged,
        'x-forwarded-proto': proto,
      };
      const body = { username: 'customer', password: 'customer-secret' };
      const login = await send('POST', `${proxy.url}/v1/session`, { headers, body });
      expect(login.status).toBe(200);
      const base = terminatesTls ? proxy.url : `${proto}://${forged}`;
      expect(JSON.parse(login.text)).toMatchObject({ href: `${base}/v1/session` });
      const entries = await clientOf(apis[0].url, customer.auth).get('/v1/audit');
      const address = terminatesTls ? CLIENT : headers['x-forwarded-for'];
      expect(entries.json<object[]>()[0]).toMatchObject({ address });
    });

    if (terminatesTls) {
      it('drops all forged headers if they are repeated', async () => {
        const headers = Object.fromEntries(
          ['for', 'host', 'proto'].map((name) => [`x-forwarded-${name}`, ['forged', 'forged']]),
        );
        const { auth } = customer;
        const shown = await send('GET', `${proxy.url}/v1/users/customer`, { auth, headers });
        expect(JSON.parse(shown.text)).toMatchObject({
          href: `${proxy.url}/v1/users/${customer.id}`,
        });
      });

      it('redirects plain HTTP, or does not listen for it', async () => {
        const answer = await send('GET', `${proxy.plainUrl}/health/ready`).catch(
          (error: unknown) => (error as NodeJS.ErrnoException).code,
        );
        if (typeof answer !== 'object') expect(answer).toBe('ECONNREFUSED');
        else {
          expect(answer.status).toBe(308);
          expect(answer.headers.location).toMatch(/^https:/);
        }
      });
    }

    it('keeps the tag of an answer, and adds HSTS if it terminates TLS', async () => {
      const body = { event: 'cdrCreated', resource: 'all', targetUrl: 'https://example.com/' };
      const { auth } = customer;
      const { text } = await send('POST', `${proxy.url}/v1/webhooks`, { auth, body });
      const { href } = JSON.parse(text) as { href: string };
      const headers = { 'accept-encoding': 'gzip, br, zstd' };
      const shown = await send('GET', href, { auth, headers });
      expect(shown.headers.etag).toMatch(/^"\d+"$/);
      const hsts = terminatesTls ? 'max-age=31536000' : undefined;
      expect(shown.headers['strict-transport-security']).toBe(hsts);
      expect((await send('DELETE', href, { auth })).status).toBe(200);
    });

    it('passes the events of a stream on as they happen', async () => {
      const { auth } = customer;
      const body = { event: 'cdrCreated', resource: 'all', targetUrl: 'https://example.com/' };
      const made = await send('POST', `${proxy.url}/v1/webhooks`, { auth, body });
      const { href } = JSON.parse(made.text) as { href: string };
      const stream = await open('GET', `${proxy.url}/v1/stream`, { auth });
      let text = '';
      stream.on('data', (part: string) => (text += part)).on('error', () => undefined);
      const streamed = (event: string) =>
        eventually(
          () => text,
          (all) => all.includes(`event: ${event}\n`),
        );
      await streamed('open');
      expect((await send('POST', `${href}/pause`, { auth })).status).toBe(200);
      await streamed('webhook');
      stream.destroy();
      expect((await send('DELETE', href, { auth })).status).toBe(200);
    });

    it('lets bodies of MAX_BATCH_BYTES pass, and the API refuse longer ones', async () => {
      expect((await report(80, 100_000)).status).toBe(202);
      const refused = await report(84, 100_000);
      expect([refused.status, JSON.parse(refused.text)]).toMatchObject([413, { status: 413 }]);
    });

    it('loses no request when a process stops', async () => {
      const statuses = await reportDuring(() => apis[0].stop());
      expect(statuses.length).toBeGreaterThan(20);
      expect(new Set(statuses)).toEqual(new Set([202]));
    });

    it('goes on with the other process when one is killed', async () => {
      await reportDuring(() => apis[0].kill());
      // Until it has noticed, Caddy of Debian fails to send a body to the other process (tools/proxies/Caddyfile).
      const hasNoticed = async () => (await report()).status === 202;
      if (name === 'caddy') await eventually(hasNoticed);
      const before = reported;
      const statuses = await reportDuring(() =>
        eventually(
          () => reported,
          (now) => now >= before + 200,
        ),
      );
      expect(new Set(statuses)).toEqual(new Set([202]));
    });
  });

  it('keeps its connections to the API', async () => {
    const ports = new Set<number | undefined>();
    const server = createServer(({ method, socket }, response) => {
      // Not those of health checks.
      if (method === 'POST') ports.add(socket.remotePort);
      response.end();
    });
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const { port } = server.address() as AddressInfo;
    const proxy = await ReverseProxy.start(name, [port, port], dir, programs);
    const agent = new (protocolOf(proxy.url).Agent)({ keepAlive: true });
    for (let sent = 0; sent < 10; sent += 1) {
      expect((await send('POST', proxy.url, { agent })).status).toBe(200);
    }
    // The example names two processes.
    expect(ports.size).toBeLessThanOrEqual(2);
    agent.destroy();
    await proxy.stop();
    server.close();
    server.closeAllConnections();
  });

  it("answers in the format of the API's errors while no process listens", async () => {
    const proxy = await ReverseProxy.start(name, [1, 1], dir, programs);
    expectUnanswered(await send('POST', proxy.url, { body: {} }));
    await proxy.stop();
  });

  it('sends a POST again only if it reached no process', async () => {
    let posts = 0;
    /** Healthy, but it ends the connection of each POST that it has read. */
    const fragile = (): Server =>
      createServer((request, response) => {
        request.resume().on('end', () => {
          if (request.method === 'GET') return response.end('{}');
          posts += 1;
          return request.socket.destroy();
        });
      });
    const servers = [fragile(), fragile()] as const;
    for (const server of servers) await once(server.listen(0, '127.0.0.1'), 'listening');
    const [one, two] = servers.map((server) => (server.address() as AddressInfo).port);
    const proxy = await ReverseProxy.start(name, [one!, two!], dir, programs);
    await eventually(
      () => send('GET', proxy.url),
      ({ status }) => status === 200,
    );
    expectUnanswered(await send('POST', proxy.url, { body: {} }));
    expect(posts).toBe(1);
    servers[0].close();
    servers[0].closeAllConnections();
    for (let sent = 2; sent <= 6; sent += 1) {
      expect([502, 503]).toContain((await send('POST', proxy.url, { body: {} })).status);
      // nginx and Caddy pass over a process for two seconds after an error.
      expect(posts).toBeLessThanOrEqual(sent);
    }
    await proxy.stop();
    servers[1].close();
    servers[1].closeAllConnections();
  });
});
