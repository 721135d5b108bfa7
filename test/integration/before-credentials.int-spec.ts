import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { freePort } from '#tools/net';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { apiInProcess, type InProcess } from '../support/in-process.js';
import { connectTo } from '../support/raw-connection.js';

/** How long one request may keep the event loop from others. */
const MOST_MS = 5;
/** The shortest of several measurements, because other activity of the machine only adds to them. */
const TRIES = 100;
/** Almost the maximum size of a head. */
const HEAD = 15_500;

let database: TestDatabase;
let api: InProcess;

beforeAll(async () => {
  database = await createTestDatabase();
  api = await apiInProcess({
    DATABASE_URL: database.url,
    // Everything that is optional and runs before the credentials are known.
    TRUSTED_PROXIES: '127.0.0.0/8,10.0.0.0/8,::1/128',
    CORS_ORIGINS: 'https://a.example',
    METRICS_PORT: String(await freePort()),
    OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9',
  });
});
afterAll(async () => {
  await api.stop();
  await database.drop();
});

/** Milliseconds of processor time of this process: on a busy machine, it waits for others. */
function computed(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}

/** The longest uninterrupted computation of the event loop during an action. */
async function longestBusy(work: () => Promise<unknown>): Promise<number> {
  let [longest, last, isOver] = [0, computed(), false];
  const tick = (): void => {
    const now = computed();
    longest = Math.max(longest, now - last);
    last = now;
    if (!isOver) setImmediate(tick);
  };
  setImmediate(tick);
  await work();
  isOver = true;
  return longest;
}

let client = 0;
/** Another client each time: refusals to one are delayed. */
const another = (): string => `198.51.${(client >> 8) & 255}.${(client += 1) & 255}`;

async function send(head: string, body: string): Promise<void> {
  const connection = await connectTo(api.url);
  connection.write(`${head.replaceAll('{client}', another())}\r\n\r\n${body}`);
  await connection.until(/\r\n\r\n/);
  connection.destroy();
}

/** Fills a head with as many pieces as fit. */
const filled = (start: string, piece: string, length = HEAD): string =>
  start + piece.repeat(Math.max(0, Math.floor((length - start.length) / piece.length)));
const MARKS = '\u0301\u0316';
/** Addresses of proxies, enough to check all or only the last ones; the client is always another. */
const forwardedBy = (proxy: string) =>
  `${filled('X-Forwarded-For: {client}', `,${proxy}`, HEAD - 200)},{client}${`,${proxy}`.repeat(15)}`;
const base64 = (bytes: number) =>
  Buffer.from(filled('demo:', MARKS, bytes >> 1)).toString('base64');

const HEADERS: Record<string, string> = {
  'a password of unsorted accents': `Authorization: Basic ${base64(11_000)}`,
  'as long a password as is read': `Authorization: Basic ${base64(1_000)}`,
  'credentials of blanks': `${filled('Authorization: Basic ', ' ')}!`,
  'credentials of another scheme': filled('Authorization: Bearer ', 'a'),
  'many cookies': filled('Cookie: ', 'a=%41;'),
  'different cookies': `Cookie: ${Array.from({ length: 2_000 }, (_, n) => `a${n}=b`).join(';')}`,
  'a long session': filled('Cookie: __Host-switchhook-session=', '%41'),
  'trusted addresses': forwardedBy('10.0.0.1'),
  'trusted short addresses': forwardedBy('::1'),
  'empty addresses': filled('X-Forwarded-For: {client}', ','),
  'a long forwarded host': filled('X-Forwarded-Host: ', 'a.'),
  'many forwarded hosts': filled('X-Forwarded-Host: ', ','),
  'many forwarded protocols': filled('X-Forwarded-Proto: ', ','),
  'unclosed quotes in Accept': filled('Accept: "', ','),
  'many types in Accept': filled('Accept: ', 'a/b,'),
  'many encodings': filled('Accept-Encoding: ', 'a,'),
  'encodings with blanks': filled('Accept-Encoding: a', ' '),
  'a long origin': filled('Origin: http://', 'a'),
  'a long traceparent': filled('traceparent: 00-', '0'),
  'many preferences': filled('Prefer: ', 'handling=,'),
  'a preference with blanks': filled('Prefer: handling', ' '),
  'a long type': filled('Content-Type: ', ';'),
  'a long request id': filled('X-Request-Id: ', '='),
  conditions: `If-Modified-Since: ${filled('', ' 1', 5_000)}1\r\nIf-None-Match: ${filled('', '"",', 5_000)}\r\nCache-Control: ${filled('', ', ', 5_000)}`,
  'a preflight': filled(
    'Origin: https://a.example\r\nAccess-Control-Request-Method: GET\r\nAccess-Control-Request-Headers: ',
    'a,',
  ),
  'thousands of short headers': filled('a:b', '\r\na:b', HEAD - 5),
  'thousands of different headers': Array.from({ length: 2_000 }, (_, n) => `a${n}:`).join('\r\n'),
};

const TARGETS: Record<string, string> = {
  '/': '/',
  slashes: filled('/', '/'),
  'slashes of the console': filled('/console/', '/'),
  'slashes of its files': filled('/console/assets/', '/'),
  'slashes of the documentation': filled('/docs/', '/'),
  'slashes of the API': filled('/v1/', '/'),
  escapes: filled('/', '%41'),
  'invalid escapes': filled('/', '%'),
  'invalid escapes in an id': filled('/v1/applications/', '%'),
  'an id of the API': filled('/applications/', 'a'),
  'a query of many names': filled('/openapi.json?', 'a&'),
  'a query of escapes': filled('/docs?a=', '%2C'),
  'a query of question marks': filled('/?', '?'),
  'an absolute target': filled('http://', '@'),
  'an absolute path': filled('http://x/', '%'),
};

const ROUTES = [
  ...['GET /', 'GET /console', 'GET /console/', 'GET /console/assets/x', 'GET /docs'],
  ...[
    'GET /docs/assets/x',
    'GET /docs/receiving',
    'GET /docs/receiving/notifications',
    'GET /openapi.json',
    'GET /health/live',
    'GET /health/ready',
  ],
  ...['GET /unknown', 'OPTIONS /v1/applications', 'GET /v1/applications', 'POST /v1/session'],
];

const BODIES: Record<string, string> = {
  'accents of the largest size': JSON.stringify({ username: 'demo', password: MARKS.repeat(240) }),
  'accents beyond it': JSON.stringify({ username: 'demo', password: MARKS.repeat(64_000) }),
  'a username of accents': JSON.stringify({ username: MARKS.repeat(240), password: 'x' }),
  brackets: '['.repeat(1_000),
  'unknown members': `{${Array.from({ length: 110 }, (_, n) => `"a${n}":0`).join()}}`,
};

describe('no request without credentials keeps the event loop from others:', () => {
  const expectFree = async (head: () => string, body = ''): Promise<void> => {
    await send(head(), body);
    let shortest = Infinity;
    for (let n = 0; n < TRIES && shortest >= MOST_MS; n += 1) {
      shortest = Math.min(shortest, await longestBusy(() => send(head(), body)));
    }
    expect(shortest).toBeLessThan(MOST_MS);
  };
  const forwarded = 'X-Forwarded-For: {client}';

  it.each(ROUTES.flatMap((route) => Object.keys(HEADERS).map((what) => [route, what] as const)))(
    '%s with %s',
    async (route, what) => {
      const more = HEADERS[what]!;
      const from = more.includes('{client}') ? '' : `${forwarded}\r\n`;
      await expectFree(() => `${route} HTTP/1.1\r\nHost: x\r\n${from}${more}`);
    },
  );

  it.each(Object.keys(TARGETS))('a target of %s', async (what) => {
    await expectFree(() => `GET ${TARGETS[what]!} HTTP/1.1\r\nHost: x\r\n${forwarded}`);
  });

  it.each(Object.keys(BODIES))('a login with %s', async (what) => {
    const body = BODIES[what]!;
    const length = String(Buffer.byteLength(body));
    await expectFree(
      () =>
        `POST /v1/session HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nPrefer: handling=strict\r\n${forwarded}\r\nContent-Length: ${length}`,
      body,
    );
  });

  // One read of a connection can contain thousands of requests; ten of them are begun.
  it.each(ROUTES)('%s thousands of times in one piece', async (route) => {
    const one = `${route} HTTP/1.1\r\nHost: x\r\n`;
    const all = () => filled(`${one}${forwarded}\r\n\r\n`, `${one}\r\n`, 60_000);
    await expectFree(all);
  });

  it('a method that does not exist', async () => {
    await expectFree(() => `${filled('', 'X')} / HTTP/1.1\r\nHost: x`);
  });
});

describe('no answer without credentials is much longer than its request:', () => {
  /** The usual size of a short answer: headers for browsers, and an error. */
  const MOST = 2_000;
  /** Files are as long as they are: each is in memory once, for everybody. */
  const PAGES = /^GET \/(?:docs\b|openapi\.json|console\/ )/;

  /** @returns the bytes of a request, and of the answer to it */
  async function sizes(head: string, body = ''): Promise<[sent: number, received: number]> {
    const connection = await connectTo(api.url);
    const bytes = `${head.replaceAll('{client}', another())}\r\nConnection: close\r\n\r\n${body}`;
    connection.write(bytes);
    await connection.until(/\r\n\r\n/);
    await connection.ended;
    return [Buffer.byteLength(bytes), Buffer.byteLength(connection.received())];
  }

  const requests = [
    ...ROUTES.map((route) => `${route} HTTP/1.1\r\nHost: x`),
    ...ROUTES.flatMap((route) =>
      Object.values(HEADERS).map((header) => `${route} HTTP/1.1\r\nHost: x\r\n${header}`),
    ),
    ...Object.values(TARGETS).map((target) => `GET ${target} HTTP/1.1\r\nHost: x`),
    ...['/', '/console/', '/v1/', '/docs/', '/applications/'].flatMap((start) =>
      ['"', '\\', '%', '/', '\u00e9'].map(
        (piece) => `GET ${filled(start, piece)} HTTP/1.1\r\nHost: x`,
      ),
    ),
    `${filled('', 'X')} / HTTP/1.1\r\nHost: x`,
    `CONNECT ${filled('', 'x')}:1 HTTP/1.1\r\nHost: x`,
    `GET / HTTP/1.1\r\nHost: x\r\n${filled('X-Y: ', 'x', 17_000)}`,
    `GET / HTTP/3.1\r\nHost: x`,
  ].filter((head) => !PAGES.test(head));

  it('whatever its headers and its target are', async () => {
    const long: string[] = [];
    for (const head of requests) {
      const from = head.includes('{client}') ? '' : '\r\nX-Forwarded-For: {client}';
      const [sent, received] = await sizes(head + from);
      if (received > sent + MOST) long.push(`${head.slice(0, 80)}: ${received}`);
    }
    expect(long).toEqual([]);
    // Little of a long target is returned.
    const [, least] = await sizes('GET /x HTTP/1.1\r\nHost: x');
    const [, most] = await sizes(`GET ${filled('/', '"')} HTTP/1.1\r\nHost: x`);
    expect(most).toBeLessThan(least + 500);
  });

  it.each(Object.keys(BODIES))('of a login with %s', async (what) => {
    const body = BODIES[what]!;
    const head = `POST /v1/session HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nX-Forwarded-For: {client}`;
    const [sent, received] = await sizes(
      `${head}\r\nContent-Length: ${Buffer.byteLength(body)}`,
      body,
    );
    expect(received).toBeLessThan(sent + MOST);
    const [strict, named] = await sizes(
      `${head}\r\nPrefer: handling=strict\r\nContent-Length: ${Buffer.byteLength(body)}`,
      body,
    );
    expect(named).toBeLessThan(strict + 2 * MOST);
  });

  it('of a page of the console in endless folders, which does not exist', async () => {
    const [, page] = await sizes('GET /console/deliveries/1 HTTP/1.1\r\nHost: x');
    const [, error] = await sizes(`GET ${filled('/console/', '/')} HTTP/1.1\r\nHost: x`);
    expect(error).toBeLessThan(page);
  });
});
