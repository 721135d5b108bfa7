import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createUser } from '../support/accounts.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { type Answer, basic, send } from '../support/http.js';
import { apiInProcess, type InProcess } from '../support/in-process.js';
import { exchange } from '../support/raw-connection.js';

const PAGE = 'https://console.example.com';
const OTHER = 'http://localhost:5173';

let database: TestDatabase;
/** One API without CORS_ORIGINS, and one with two origins. */
let closed: InProcess;
let open: InProcess;
let auth: string;

beforeAll(async () => {
  database = await createTestDatabase();
  ({ auth } = await createUser(database, 'owner'));
  const environment = { DATABASE_URL: database.url };
  [closed, open] = await Promise.all([
    apiInProcess(environment),
    apiInProcess({ ...environment, CORS_ORIGINS: `${PAGE}, ${OTHER}` }),
  ]);
});
afterAll(async () => {
  await Promise.all([closed.stop(), open.stop()]);
  await database.drop();
});

/** Writes header by header, as a browser does; the description has no OPTIONS. */
function ask(api: InProcess, line: string, headers: Record<string, string> = {}) {
  const all = Object.entries({ Host: 'x', ...headers, Connection: 'close' });
  const head = all.map(([name, value]) => `${name}: ${value}\r\n`).join('');
  return exchange(api.url, `${line} HTTP/1.1\r\n${head}\r\n`);
}

const preflight = (origin: string, method = 'PUT') => ({
  Origin: origin,
  'Access-Control-Request-Method': method,
  'Access-Control-Request-Headers': 'authorization,content-type,idempotency-key,if-match',
});

const listIn = (header: unknown): string[] => String(header).toLowerCase().split(/, ?/).sort();

/** The names of the CORS headers of an answer. */
const corsHeadersOf = ({ headers }: Answer) =>
  Object.keys(headers).filter((name) => name.startsWith('access-control-'));

describe('security headers', () => {
  it.each(['/docs', '/docs/receiving', '/openapi.json', '/', '/favicon.ico', '/v1x', '/nothing'])(
    "restrict browsers at %s with helmet's rules",
    async (path) => {
      const { headers } = await send('GET', closed.url + path);
      expect(headers).toMatchObject({
        'x-content-type-options': 'nosniff',
        'x-frame-options': 'DENY',
        'referrer-policy': 'no-referrer',
        'cross-origin-opener-policy': 'same-origin',
        'cross-origin-resource-policy': 'same-origin',
        'x-permitted-cross-domain-policies': 'none',
      });
      const policy = String(headers['content-security-policy']);
      for (const rule of ['default-src', 'base-uri', 'form-action', 'frame-ancestors']) {
        expect(policy).toContain(`${rule} 'none'`);
      }
      // The proxy speaks TLS, and sets this header.
      expect(headers).not.toHaveProperty('strict-transport-security');
    },
  );

  it.each(['/v1/applications', '/v1/nothing', '/health/live', '/health/ready'])(
    'allow a browser nothing at %s, which is for programs',
    async (path) => {
      for (const call of [{}, { auth }]) {
        const { headers } = await send('GET', closed.url + path, call);
        expect(headers).toMatchObject({
          'x-content-type-options': 'nosniff',
          'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
        });
        expect(headers).not.toHaveProperty('x-frame-options');
      }
    },
  );

  it('of the documentation page allow only our own script files, and no inline script', async () => {
    const page = await send('GET', `${closed.url}/docs`);
    const policy = String(page.headers['content-security-policy']);
    expect(policy).toContain("script-src 'self';");
    expect(policy).toContain("connect-src 'self'");
    expect(policy).not.toMatch(/unsafe-eval|script-src[^;]*unsafe/);
    const scripts = [...page.text.matchAll(/<script([^>]*)>([^<]*)</g)];
    expect(scripts).toHaveLength(1);
    for (const [, attributes, content] of scripts) {
      expect([attributes, content]).toEqual([expect.stringMatching(/ src="[^":]+"/), '']);
    }
    expect(page.text).not.toMatch(/\son\w+=|javascript:/i);
  });

  it('do not reveal which software answered', async () => {
    const answers = await Promise.all([
      send('GET', `${closed.url}/docs`),
      send('GET', `${closed.url}/v1/applications`, { auth }),
      send('GET', `${closed.url}/v1/applications`),
      send('PATCH', `${closed.url}/health/live`),
      exchange(closed.url, 'no HTTP\r\n\r\n'),
    ]);
    for (const { headers } of answers) {
      expect(headers).toMatchObject({ 'x-content-type-options': 'nosniff' });
      for (const name of ['server', 'x-powered-by', 'via', 'set-cookie']) {
        expect(headers).not.toHaveProperty(name);
      }
    }
  });
});

describe('without CORS_ORIGINS', () => {
  it('no page may call the API, and a preflight is answered like an unsupported method', async () => {
    const asked = await ask(closed, 'OPTIONS /v1/applications', preflight(PAGE));
    expect(asked.status).toBe(401);
    const known = { ...preflight(PAGE), Authorization: basic(auth) };
    expect((await ask(closed, 'OPTIONS /v1/applications', known)).status).toBe(405);
    expect((await ask(closed, 'OPTIONS /health/live', preflight(PAGE))).status).toBe(405);
    const listed = await send('GET', `${closed.url}/v1/applications`, {
      auth,
      headers: { origin: PAGE },
    });
    for (const answer of [asked, listed]) {
      expect(corsHeadersOf(answer)).toEqual([]);
      expect(answer.headers).not.toHaveProperty('vary');
    }
  });
});

describe('a form POST that a browser sends with remembered credentials', () => {
  const form = { 'content-type': 'application/x-www-form-urlencoded' };
  const EVIL = 'https://evil.example';

  /**
   * Needs no body. The subscription does not exist, so 404 means that the request was let through.
   */
  const submit = async (api: InProcess, headers: Record<string, string>) => {
    const { status } = await send('POST', `${api.url}/v1/webhooks/1/secret/rotate`, {
      auth,
      headers: { ...form, ...headers },
    });
    return status;
  };

  it.each<[whose: string, headers: Record<string, string>]>([
    ['another site', { 'sec-fetch-site': 'cross-site', origin: EVIL }],
    ['another host of the site', { 'sec-fetch-site': 'same-site', origin: EVIL }],
    ['another site over plain HTTP, known by Origin only', { origin: EVIL }],
    ['a page without an origin', { origin: 'null' }],
    ['a site whose origin is a prefix of ours', { origin: 'http://127.0.0.1' }],
    ['an origin that is no more than our scheme', { origin: 'http:' }],
    ['a page that hides its origin', { 'sec-fetch-site': 'cross-site' }],
  ])('from %s is answered as if it had no credentials', async (_, headers) => {
    expect(await submit(closed, headers)).toBe(401);
    expect(await submit(open, headers)).toBe(401);
  });

  it('from our own pages, allowed origins or programs other than browsers is let through', async () => {
    expect(await submit(closed, { 'sec-fetch-site': 'same-origin', origin: EVIL })).toBe(404);
    expect(await submit(closed, { 'sec-fetch-site': 'none' })).toBe(404);
    expect(await submit(closed, { origin: closed.url })).toBe(404);
    expect(await submit(open, { 'sec-fetch-site': 'cross-site', origin: PAGE })).toBe(404);
    expect(await submit(closed, {})).toBe(404);
  });

  it('is compared with the address that a trusted proxy forwards', async () => {
    const proxied = await apiInProcess({
      DATABASE_URL: database.url,
      TRUSTED_PROXIES: '127.0.0.1/32',
    });
    const forwarded = {
      'x-forwarded-proto': 'HTTPS',
      'x-forwarded-host': 'API.example:443, inner',
    };
    const own = { ...forwarded, origin: 'https://api.example' };
    expect(await submit(proxied, own)).toBe(404);
    for (const origin of ['http://api.example', 'https://inner', proxied.url, 'https:']) {
      expect([origin, await submit(proxied, { ...forwarded, origin })]).toEqual([origin, 401]);
    }
    // Only the proxy can know.
    expect(await submit(closed, own)).toBe(401);
    await proxied.stop();
  });

  it('is distinguished from requests that need a preflight', async () => {
    const headers = { 'content-type': 'application/json', origin: EVIL };
    expect(await submit(closed, headers)).toBe(404);
    const changed = await send('DELETE', `${closed.url}/v1/webhooks/1`, { auth, headers });
    expect(changed.status).toBe(404);
  });
});

describe('with CORS_ORIGINS', () => {
  it.each([PAGE, OTHER])('a preflight from %s is answered without credentials', async (origin) => {
    const { status, text, headers } = await ask(
      open,
      'OPTIONS /v1/applications/7/',
      preflight(origin),
    );
    expect([status, text]).toEqual([204, '']);
    expect(headers).toMatchObject({
      'access-control-allow-origin': origin,
      'access-control-max-age': '600',
      'cache-control': 'no-store',
    });
    expect(headers['vary']).toContain('Origin');
    expect(headers).not.toHaveProperty('access-control-allow-credentials');
    expect(listIn(headers['access-control-allow-methods'])).toEqual([
      'delete',
      'get',
      'head',
      'put',
    ]);
    expect(listIn(headers['access-control-allow-headers'])).toEqual([
      ...['authorization', 'content-type', 'idempotency-key', 'if-match', 'prefer'],
      ...['switchhook-account', 'x-request-id'],
    ]);
  });

  it('a preflight of an unknown path or from another origin gets no CORS headers', async () => {
    const elsewhere = ['https://console.example.com.evil.example', 'null', `${PAGE}:8443`];
    for (const [line, origin] of [
      ['OPTIONS /v1/nothing', PAGE],
      ['OPTIONS /v1/applications/7/nothing', PAGE],
      ...elsewhere.map((from) => ['OPTIONS /v1/applications', from]),
    ] as [string, string][]) {
      const answer = await ask(open, line, preflight(origin));
      expect([line, origin, answer.status]).toEqual([line, origin, 401]);
      expect(corsHeadersOf(answer)).toEqual([]);
    }
    expect((await ask(open, 'OPTIONS /nothing', preflight(PAGE))).status).toBe(404);
  });

  it('an OPTIONS request that is not a preflight gets the usual answer', async () => {
    expect((await ask(open, 'OPTIONS /v1/applications', { Origin: PAGE })).status).toBe(401);
    const known = { Origin: PAGE, Authorization: basic(auth) };
    expect((await ask(open, 'OPTIONS /v1/applications', known)).status).toBe(405);
  });

  it('a page may read answers, including errors, and the headers that it needs', async () => {
    for (const [call, status] of [
      [{ auth }, 200],
      [{}, 401],
    ] as const) {
      const answer = await send('GET', `${open.url}/v1/applications`, {
        ...call,
        headers: { origin: PAGE },
      });
      expect(answer.status).toBe(status);
      expect(answer.headers['access-control-allow-origin']).toBe(PAGE);
      expect(listIn(answer.headers['access-control-expose-headers'])).toEqual([
        ...['allow', 'etag', 'idempotency-replayed', 'link', 'location', 'preference-applied'],
        ...[
          'ratelimit',
          'ratelimit-policy',
          'retry-after',
          'switchhook-searched-to',
          'x-request-id',
        ],
      ]);
    }
  });

  it('a page of another origin may read nothing', async () => {
    const headers = { origin: 'https://evil.example' };
    const answer = await send('GET', `${open.url}/v1/applications`, { auth, headers });
    expect(answer.headers).not.toHaveProperty('access-control-allow-origin');
    expect(answer.headers['vary']).toContain('Origin');
  });
});
