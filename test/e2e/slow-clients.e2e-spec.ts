import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '#tools/eventually';
import { freePort } from '#tools/net';
import { type DemoAccount, startDemoAccount } from '../support/demo-account.js';
import { basic, send } from '../support/http.js';
import { expectProblem } from '../support/problem.js';
import { apiInProcess } from '../support/in-process.js';
import { startApi } from '../support/processes.js';
import type { ServiceProcess } from '../support/service-process.js';
import { answersIn, connectTo, type RawConnection } from '../support/raw-connection.js';

/** Instead of a minute for a request, and ten seconds for its headers. */
const REQUEST_TIMEOUT_MS = 1_500;
/** The server checks timeouts once a second; a busy machine needs more. */
const CUT_WITHIN_MS = 15_000;
const MAX_CONNECTIONS = 10;
const tooLate = { status: 408, code: 'request_timeout' };

let demo: DemoAccount;
let metrics: string;

beforeAll(async () => {
  const port = await freePort();
  metrics = `http://127.0.0.1:${port}/metrics`;
  const settings = {
    MAX_CONNECTIONS: String(MAX_CONNECTIONS),
    METRICS_PORT: String(port),
  };
  demo = await startDemoAccount(settings, async (environment) => {
    const api = await apiInProcess(environment);
    const timeouts = { requestTimeout: REQUEST_TIMEOUT_MS, headersTimeout: REQUEST_TIMEOUT_MS };
    Object.assign(api.app.getHttpServer(), timeouts);
    return api;
  });
});
afterAll(() => demo.stop());

const post = () =>
  `POST /v1/applications HTTP/1.1\r\nHost: x\r\nAuthorization: ${basic(demo.auth)}\r\n` +
  'Content-Type: application/json\r\n';

/** Sends a byte again and again, and waits until the server has closed the connection. */
async function trickle(connection: RawConnection, byte: string): Promise<number> {
  const start = performance.now();
  const sending = setInterval(() => {
    connection.write(byte);
  }, 100);
  const timer = setTimeout(() => {
    connection.destroy();
  }, CUT_WITHIN_MS);
  await connection.ended;
  clearInterval(sending);
  clearTimeout(timer);
  return performance.now() - start;
}

// At the same time, because they mostly wait.
describe.concurrent('a slow client', () => {
  it.each<[what: string, opening: string, byte: string]>([
    ['nothing at all', '', ''],
    ['a request line without end', 'GET /v1/', 'x'],
    ['headers without end', 'GET /v1/applications HTTP/1.1\r\nX-Y: ', 'x'],
  ])('that sends %s is answered with 408 and disconnected', async (_, opening, byte) => {
    const connection = await connectTo(demo.api.url);
    connection.write(opening);
    const took = await trickle(connection, byte);
    expect(took).toBeGreaterThan(REQUEST_TIMEOUT_MS - 500);
    expect(took).toBeLessThan(CUT_WITHIN_MS);
    const [answer] = answersIn(connection.received());
    expectProblem(answer!, tooLate);
    expect(answer!.headers['connection']).toBe('close');
  });

  it.each([
    ['of a length', 'Content-Length: 100000\r\n\r\n', ' '],
    ['in chunks', 'Transfer-Encoding: chunked\r\n\r\n', '1\r\n \r\n'],
  ])('that sends a body %s is answered with 408 and disconnected', async (_, headers, byte) => {
    const connection = await connectTo(demo.api.url);
    connection.write(post() + headers);
    expect(await trickle(connection, byte)).toBeLessThan(CUT_WITHIN_MS);
    const answers = answersIn(connection.received());
    expect(answers).toHaveLength(1);
    expectProblem(answers[0]!, tooLate);
    expect(answers[0]!.headers['connection']).toBe('close');
  });

  it('that sends an unwanted body is answered at once, and disconnected all the same', async () => {
    const connection = await connectTo(demo.api.url);
    connection.write('POST /v1/applications HTTP/1.1\r\nHost: x\r\nContent-Length: 100000\r\n\r\n');
    await connection.until(/^HTTP\/1\.1 401 /);
    expect(await trickle(connection, ' ')).toBeLessThan(CUT_WITHIN_MS);
    expect(answersIn(connection.received()).map(({ status }) => status)).toEqual([401]);
  });

  it('that does not read its answers is disconnected', async () => {
    const { text } = await send('GET', `${demo.api.url}/docs/`);
    const [, script = ''] = /src="\.\/(assets\/[^"]+\.js)"/.exec(text) ?? [];
    // 15 MB: more than the kernel buffers at both ends.
    const asked = 10;
    const connection = await connectTo(demo.api.url);
    connection.pause();
    connection.write(`GET /docs/${script} HTTP/1.1\r\nHost: x\r\n\r\n`.repeat(asked));
    await sleep(4 * REQUEST_TIMEOUT_MS);
    connection.resume();
    await connection.ended;
    const answers = connection.received().match(/HTTP\/1\.1 200 OK\r\n/g) ?? [];
    expect(answers.length).toBeGreaterThan(0);
    expect(answers.length).toBeLessThan(asked);
  });
});

describe.concurrent('with the timeout of a minute for a whole request', () => {
  let api: ServiceProcess;

  beforeAll(async () => {
    api = await startApi({ DATABASE_URL: demo.database.url });
  });
  afterAll(() => api.stop());

  it('the headers must arrive within ten seconds', async () => {
    const connection = await connectTo(api.url);
    connection.write('GET /v1/applications HTTP/1.1\r\nX-Y: ');
    const took = await trickle(connection, 'x');
    expect(took).toBeGreaterThan(9_000);
    expect(took).toBeLessThan(CUT_WITHIN_MS);
    expectProblem(answersIn(connection.received())[0]!, tooLate);
  });

  it('an idle connection is closed five seconds after an answer', async () => {
    const connection = await connectTo(api.url);
    connection.write('GET /health/live HTTP/1.1\r\nHost: x\r\n\r\n');
    await connection.until(/^HTTP\/1\.1 200 /);
    const took = await trickle(connection, '');
    expect(took).toBeGreaterThan(4_000);
    expect(took).toBeLessThan(9_000);
    expect(answersIn(connection.received())).toHaveLength(1);
  });
});

describe('slow clients', () => {
  it('do not keep the server from answering others', async () => {
    const slow = await Promise.all(
      Array.from({ length: MAX_CONNECTIONS - 2 }, () => connectTo(demo.api.url)),
    );
    for (const connection of slow) connection.write(`${post()}Content-Length: 100\r\n\r\n{`);
    expect((await demo.client.get('/v1/applications')).status).toBe(200);
    await Promise.all(slow.map(({ ended }) => ended));
    for (const connection of slow) {
      expect(connection.received()).toMatch(/^HTTP\/1\.1 408 /);
    }
  });
});

describe('connections', () => {
  const dropped = async () => {
    const { text } = await send('GET', metrics);
    return Number(/^switchhook_dropped_connections_total (\d+)$/m.exec(text)?.[1]);
  };

  it('that pipeline a hundred requests get ten answers and are closed', async () => {
    const connection = await connectTo(demo.api.url);
    connection.write('GET /health/live HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(100));
    await connection.ended;
    const answers = answersIn(connection.received());
    expect(answers.map(({ status }) => status)).toEqual(Array(10).fill(200));
    expect(answers.map(({ headers }) => headers.connection === 'close').indexOf(true)).toBe(9);
  });

  it('beyond MAX_CONNECTIONS are dropped and counted, and accepted again after others end', async () => {
    const before = await dropped();
    const open = await Promise.all(
      Array.from({ length: MAX_CONNECTIONS + 5 }, () => connectTo(demo.api.url)),
    );
    const closed = new Set<RawConnection>();
    for (const connection of open) void connection.ended.then(() => closed.add(connection));
    await eventually(dropped, (count) => count >= before + 5);
    expect(await dropped()).toBe(before + 5);
    await eventually(
      () => closed.size,
      (count) => count >= 5,
    );
    for (const connection of open) connection.destroy();
    await eventually(
      () =>
        demo.client.get('/v1/applications').then(
          ({ status }) => status,
          () => 0,
        ),
      (status) => status === 200,
    );
  });
});
