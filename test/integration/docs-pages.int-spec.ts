import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { request } from '../support/http.js';
import { apiInProcess, type InProcess } from '../support/in-process.js';

const FILES_ALONE =
  "default-src 'none'; script-src 'self'; style-src 'self'; font-src 'self'; img-src 'self' data:; " +
  "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; ";
const PAGES = [
  ['/docs', "connect-src 'self'"],
  ['/docs/', "connect-src 'self'"],
  ['/docs/receiving', "require-trusted-types-for 'script'"],
  ['/docs/receiving/', "require-trusted-types-for 'script'"],
] as const;

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

it('the receiving guide is the whole document, with anchors that its links find', async () => {
  const { text } = await get('/docs/receiving');
  const headings = [...readFileSync('docs/receiving.md', 'utf8').matchAll(/^##+ (.+)$/gm)];
  expect(headings.length).toBeGreaterThan(20);
  const anchors = [...text.matchAll(/<h[2-6] id="([^"]+)"/g)].map(([, anchor]) => anchor);
  expect(anchors).toHaveLength(headings.length);
  const links = [...text.matchAll(/href="#([^"]+)"/g)].map(([, anchor]) => anchor);
  expect(links.filter((anchor) => anchor !== 'main' && !anchors.includes(anchor))).toEqual([]);
  expect(links.length).toBeGreaterThan(2 * headings.length);
  expect(text).not.toMatch(/href="[^"]*\.md/);
});

it('the API reference sends nothing to third parties', async () => {
  const own = JSON.parse(readFileSync('package.json', 'utf8')) as Record<string, unknown>;
  expect(own['scarfSettings']).toEqual({ enabled: false });
  const { text } = await get('/docs/');
  const script = addressesIn(text, '/docs/').find(({ pathname }) => pathname.endsWith('.js'));
  expect((await get(script!.pathname)).text).toMatch(/validatorUrl:null/);
});
