import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { request } from '../support/http.js';
import { apiInProcess, type InProcess } from '../support/in-process.js';

const BUILT = fileURLToPath(new URL('../../dist/apps/console/', import.meta.url));
const MOST_SCRIPT = 120 * 1_024;

let database: TestDatabase;
let api: InProcess;
let without: InProcess;

beforeAll(async () => {
  database = await createTestDatabase();
  api = await apiInProcess({ DATABASE_URL: database.url });
  without = await apiInProcess({ DATABASE_URL: database.url, CONSOLE: 'false' });
});
afterAll(async () => {
  await Promise.all([api.stop(), without.stop()]);
  await database.drop();
});

const get = (path: string, headers: Record<string, string> = {}) =>
  request('GET', api.url + path, { headers });

/** The addresses of files in a page, as a browser resolves them. */
function filesOf(text: string, path: string): string[] {
  const links = [...text.matchAll(/(?:src|href)="([^"]+\.(?:js|css))"/g)];
  return links.map(([, link = '']) => new URL(link, `${api.url}${path}`).pathname);
}

describe('the console', () => {
  it.each(['/console/', '/console/deliveries', '/console/deliveries/1', '/console/a/b/'])(
    'is the same page at %s, under a strict policy, without credentials',
    async (path) => {
      const { status, headers, text } = await get(path);
      expect([status, headers['content-type']]).toEqual([200, 'text/html; charset=utf-8']);
      expect(headers['cache-control']).toBe('no-cache');
      expect(headers['content-security-policy']).toBe(
        "default-src 'none'; script-src 'self'; style-src 'self'; font-src 'self'; " +
          "connect-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; " +
          "require-trusted-types-for 'script'",
      );
      expect(headers['x-content-type-options']).toBe('nosniff');
      const files = filesOf(text, path);
      expect(files.length).toBeGreaterThan(1);
      for (const file of files)
        expect(file).toMatch(/^\/console\/assets\/[\w.-]+-[\w-]{8}\.(js|css)$/);
    },
  );

  it('has files that browsers keep for a year, compressed where the client accepts it', async () => {
    for (const file of filesOf((await get('/console/')).text, '/console/')) {
      const plain = await get(file);
      expect(plain.status).toBe(200);
      expect(plain.headers).toMatchObject({
        'cache-control': 'public, max-age=31536000, immutable',
        'content-type': file.endsWith('.js')
          ? 'text/javascript; charset=utf-8'
          : 'text/css; charset=utf-8',
        vary: 'Accept-Encoding',
      });
      expect(plain.headers['content-encoding']).toBeUndefined();
      const { headers } = await get(file, { 'accept-encoding': 'gzip, br' });
      expect(headers['content-encoding']).toBe('gzip');
      // The build may produce a file with a single function, which gzip does not shorten.
      const length = Number(plain.headers['content-length']);
      if (length > 200) expect(Number(headers['content-length'])).toBeLessThan(length);
    }
  });

  it('answers HEAD, and redirects from its address without a slash', async () => {
    const head = await request('HEAD', `${api.url}/console/`, {});
    expect([head.status, head.text]).toEqual([200, '']);
    const { status, headers } = await get('/console');
    expect([status, headers['location']]).toEqual([302, 'console/']);
  });

  it.each([
    '/console/assets/none.js',
    '/console/assets/',
    '/console/assets/..%2findex.html',
    '/consoles',
  ])('has nothing at %s', async (path) => {
    expect((await get(path)).status).toBe(404);
  });

  it('is switched off by CONSOLE=false, and / leads to the description then', async () => {
    for (const path of ['/console', '/console/', '/console/deliveries']) {
      expect((await request('GET', without.url + path, {})).status).toBe(404);
    }
    const home = await request('GET', `${without.url}/`, {});
    expect(home.headers['location']).toBe('docs');
    expect((await request('GET', `${without.url}/health/live`, {})).status).toBe(200);
  });
});

describe('the built files', () => {
  const assets = existsSync(BUILT) ? readdirSync(`${BUILT}assets`) : [];
  const textOf = (name: string): string => readFileSync(`${BUILT}assets/${name}`, 'utf8');

  /** A script, and all that it imports before it runs. */
  function withImports(name: string, known = new Set<string>()): Set<string> {
    if (known.has(name)) return known;
    known.add(name);
    for (const [, imported = ''] of textOf(name).matchAll(
      /(?:from|import)\s*["'`]\.\/([^"'`]+)["'`]/g,
    )) {
      withImports(imported, known);
    }
    return known;
  }

  it('load at most 120 KB of script for the first page, compressed', () => {
    const shell = readFileSync(`${BUILT}index.html`, 'utf8');
    const first = [...shell.matchAll(/assets\/([^"]+\.js)"/g)].map(([, name = '']) => name);
    const page = assets.filter((name) => /^overview-page-.*\.js$/.test(name));
    expect([first.length > 0, page.length]).toEqual([true, 1]);
    const scripts = new Set([...first, ...page].flatMap((name) => [...withImports(name)]));
    const bytes = [...scripts].reduce((sum, name) => sum + gzipSync(textOf(name)).length, 0);
    expect(bytes).toBeGreaterThan(50_000);
    expect(bytes).toBeLessThanOrEqual(MOST_SCRIPT);
  });

  it('load at most 100 KB of fonts for a page in English, which are sent as they are', async () => {
    const fonts = assets.filter((name) => /-latin-wght.*\.woff2$/.test(name));
    expect(fonts.map((name) => name.split('-latin')[0]).sort()).toEqual([
      'inter',
      'jetbrains-mono',
    ]);
    const sizes = fonts.map((name) => readFileSync(`${BUILT}assets/${name}`).length);
    expect(sizes.reduce((sum, size) => sum + size)).toBeLessThanOrEqual(100 * 1_024);
    const { headers } = await get(`/console/assets/${fonts[0]}`, { 'accept-encoding': 'gzip' });
    expect(headers).toMatchObject({ 'content-type': 'font/woff2' });
    expect(headers['content-encoding']).toBeUndefined();
  });

  it('have no page for developers', () => {
    expect(assets.filter((name) => name.includes('components-page'))).toEqual([]);
  });
});

it('has words for every action of the audit that the documentation for operators lists', () => {
  const actionsIn = (file: string, quote: string) => {
    const actions = readFileSync(file, 'utf8').matchAll(
      new RegExp(`${quote}([a-z]+\\.[a-z_]+)${quote}`, 'g'),
    );
    return [...new Set([...actions].map(([, action]) => action))].sort();
  };
  const known = actionsIn('docs/operating/audit.md', '`');
  expect(known.length).toBeGreaterThan(20);
  expect(actionsIn('apps/console/src/pages/audit/words.ts', "'")).toEqual(known);
});
