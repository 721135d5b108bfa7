import { readdirSync, readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { request } from '../support/http.js';
import { apiInProcess, type InProcess } from '../support/in-process.js';

const FILES_ALONE =
  "default-src 'none'; script-src 'self'; style-src 'self'; font-src 'self'; img-src 'self' data:; " +
  "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; ";
const GUIDE = ['', '/notifications', '/subscriptions', '/finding', '/feed'].map(
  (name) => `receiving${name}`,
);
const PAGES = [
  ['/docs', "connect-src 'self'"],
  ['/docs/', "connect-src 'self'"],
  ...GUIDE.flatMap((name) => [
    [`/docs/${name}`, "require-trusted-types-for 'script'"],
    [`/docs/${name}/`, "require-trusted-types-for 'script'"],
  ]),
] as [path: string, rule: string][];

let database: TestDatabase;
let api: InProcess;
let withoutConsole: InProcess;

beforeAll(async () => {
  database = await createTestDatabase();
  api = await apiInProcess({ DATABASE_URL: database.url });
  withoutConsole = await apiInProcess({ DATABASE_URL: database.url, CONSOLE: 'false' });
});
afterAll(async () => {
  await Promise.all([api.stop(), withoutConsole.stop()]);
  await database.drop();
});

const get = (path: string, { url }: InProcess = api) => request('GET', url + path, {});

/** The addresses in a page, as a browser resolves them. */
function addressesIn(text: string, path: string): URL[] {
  const addresses = [...text.matchAll(/(?:src|href)="([^"]+)"/g)].map(
    ([, address = '']) => address,
  );
  return addresses
    .filter((address) => !/^(data:|#)/.test(address))
    .map((address) => new URL(address, api.url + path));
}

describe.each(PAGES)('the page at %s', (path, rule) => {
  it('is public, under a policy without inline scripts and styles', async () => {
    const { status, headers } = await get(path);
    expect([status, headers['content-type']]).toEqual([200, 'text/html; charset=utf-8']);
    expect(headers['cache-control']).toBe('no-cache');
    expect(headers['content-security-policy']).toBe(FILES_ALONE + rule);
  });

  it('leads to the console, the other pages and the description, and loads its files from this server', async () => {
    const all = addressesIn((await get(path)).text, path);
    const own = all.filter(({ origin }) => origin === api.url);
    const paths = [...new Set(own.map(({ pathname }) => pathname))];
    expect(paths).toEqual(
      expect.arrayContaining(['/console/', '/docs/', '/docs/receiving', '/openapi.json']),
    );
    if (path.startsWith('/docs/receiving')) {
      expect(paths).toEqual(expect.arrayContaining(GUIDE.map((name) => `/docs/${name}`)));
    }
    for (const each of paths) expect([each, (await get(each)).status]).toEqual([each, 200]);
    const files = paths.filter((each) => each.startsWith('/docs/assets/'));
    expect(files.length).toBeGreaterThan(1);
    for (const file of files) {
      expect((await get(file)).headers['cache-control']).toBe(
        'public, max-age=31536000, immutable',
      );
    }
    const others = all.filter(({ origin }) => origin !== api.url).map(({ href }) => href);
    expect(others.filter((href) => href !== 'https://www.standardwebhooks.com/')).toEqual([]);
  });

  it('is served without the console, and does not lead there then', async () => {
    const { status, text } = await get(path, withoutConsole);
    expect([status, text.includes('console/')]).toEqual([200, false]);
    expect(text).toContain('openapi.json');
  });
});

it('there is nothing else below /docs', async () => {
  for (const name of [
    'package.json',
    '..%2Fpackage.json',
    'constructor',
    'reference.html',
    'x/y',
  ]) {
    expect((await get(`/docs/${name}`)).status).toBe(404);
    expect((await get(`/docs/assets/${name}`)).status).toBe(404);
  }
  expect((await get('/docs//')).status).toBe(404);
});

/** The anchors of a page, by its address. */
const anchorsOf = (text: string) => [...text.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id);

describe.each(GUIDE)('the guide at /docs/%s', (name) => {
  const page = readFileSync(`docs/${name}.md`, 'utf8');

  it('is the whole document, with links that find their anchors, also on other pages', async () => {
    const { text } = await get(`/docs/${name}`);
    const code = /^(`{3,})[^]*?^\1$/gm;
    const headings = [...page.replaceAll(code, '').matchAll(/^##+ (.+)$/gm)];
    const anchors = [...text.matchAll(/<h[2-6] id="([^"]+)"/g)].map(([, anchor]) => anchor);
    expect([anchors.length, headings.length > 2]).toEqual([headings.length, true]);
    expect(text).not.toMatch(/href="[^"]*\.md/);
    const links = [...text.matchAll(/href="([^"]*#[^"]+)"/g)].map(([, href = '']) => href);
    expect(links.length).toBeGreaterThan(2 * headings.length);
    for (const href of links) {
      const { pathname, hash } = new URL(href, `${api.url}/docs/${name}`);
      expect([href, anchorsOf((await get(pathname)).text)]).toEqual([
        href,
        expect.arrayContaining([hash.slice(1)]),
      ]);
    }
  });

  it('names the address at which it is served, and no password', async () => {
    const example = 'https://switchhook.example.com';
    expect(page).toContain(`BASE=${example}`);
    const { text } = await get(`/docs/${name}`);
    expect(text).toContain(`BASE=${api.url}`);
    const elsewhere = await request('GET', `${api.url}/docs/${name}`, {
      headers: { host: 'hooks.example.net:8443' },
    });
    expect(elsewhere.text).toContain('BASE=http://hooks.example.net:8443');
    for (const each of [text, elsewhere.text]) {
      expect(each).not.toMatch(/demo-secret|switchhook\.example\.com/);
    }
  });
});

it('anchors of the one page that the guide was still lead to their sections', async () => {
  const { text } = await get('/docs/receiving');
  const old = [
    ...['the-request', 'your-own-headers', 'verifying', 'typescript-or-javascript-nodejs'],
    ...['python', 'go', 'java', 'rust', 'without-a-library', 'with-a-public-key'],
    ...['what-the-events-look-like', 'smsdlr-a-message-was-delivered-or-was-not'],
    ...['cdrcreated-a-call-or-a-message-has-ended'],
    ...['cdrrated-the-price-of-a-call-or-a-message-is-known', 'what-to-answer'],
    ...['duplicates-and-order', 'retries', 'only-some-events', 'pace', 'one-at-a-time-in-order'],
    ...['when-your-web-application-is-down', 'your-web-application-is-back'],
    ...['notices-about-your-other-subscriptions', 'pausing', 'secrets-and-their-rotation'],
    ...['seeing-what-happened', 'what-was-sent-to-a-subscription', 'as-it-happens'],
    ...['how-each-attempt-went', 'statistics', 'why-a-notification-did-not-come'],
    ...['taking-lists-away', 'following-the-feed', 'sending-a-test'],
    ...['sending-a-notification-again', 'sending-a-notification-now', 'cancelling-a-notification'],
    ...['getting-an-event-that-reached-no-subscription'],
    ...['calling-the-api-when-you-receive-a-notification', 'replaying-a-time-range'],
    ...['on-your-own-machine'],
  ];
  const anchors = anchorsOf(text);
  expect(old.filter((anchor) => !anchors.includes(anchor))).toEqual([]);
  expect(new Set(anchors).size).toBe(anchors.length);
});

it('the guide has a receiver in every language of the console', () => {
  const folder = 'apps/console/src/pages/subscription/snippets';
  const sources = readdirSync(folder).map((name) => readFileSync(`${folder}/${name}`, 'utf8'));
  const languages = sources.flatMap((source) => /language: '(.+)'/.exec(source)?.[1] ?? []);
  expect(languages.length).toBeGreaterThan(3);
  const headings =
    readFileSync('docs/receiving.md', 'utf8')
      .match(/^### .+$/gm)
      ?.join() ?? '';
  expect(languages.filter((language) => !headings.includes(language))).toEqual([]);
});

it('the API reference sends nothing to third parties', async () => {
  const own = JSON.parse(readFileSync('package.json', 'utf8')) as Record<string, unknown>;
  expect(own['scarfSettings']).toEqual({ enabled: false });
  const { text } = await get('/docs/');
  const script = addressesIn(text, '/docs/').find(({ pathname }) => pathname.endsWith('.js'));
  expect((await get(script!.pathname)).text).toMatch(/validatorUrl:null/);
});
