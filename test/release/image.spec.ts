import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { ROOT } from '#tools/settings';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { send } from '../support/http.js';
import { startApi, startWorker } from '../support/processes.js';

const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');

/**
 * The steps of the image, without a container engine: each stage runs in an empty directory with
 * the files of the application that its COPY lines add and the packages that its npm lines keep.
 */
const [building = '', final = ''] = read('tools/Dockerfile')
  .split(/^FROM .*$/m)
  .slice(1);
const copies = (stage: string): string[][] =>
  [...stage.matchAll(/^COPY (?:--from=build (?=\/app\/))?([^-].*)$/gm)].map(([, words = '']) =>
    words.split(' '),
  );
/** What a copy becomes: a target with a slash at its end is a directory. */
const placeOf = (source: string, target: string): string =>
  target.endsWith('/') ? join(target, basename(source)) : target;

let dir: string;
let image: string;
let database: TestDatabase;

beforeAll(async () => {
  database = await createTestDatabase();
  dir = mkdtempSync(join(tmpdir(), 'image-'));
  const build = join(dir, 'build');
  for (const words of copies(building)) {
    const target = words.at(-1) ?? '';
    for (const source of words.slice(0, -1)) {
      cpSync(join(ROOT, source), join(build, placeOf(source, target)), { recursive: true });
    }
  }
  symlinkSync(join(ROOT, 'node_modules'), join(build, 'node_modules'));
  execFileSync('npm', ['run', '-s', 'build'], { cwd: build, stdio: 'pipe' });
  rmSync(join(build, 'node_modules'));
  linkProductionPackages(build);

  image = join(dir, 'image');
  for (const [source = '', target = ''] of copies(final)) {
    const path = source.replace(/^\/app\//, '');
    cpSync(join(build, path), join(image, placeOf(path, target)), {
      recursive: true,
      verbatimSymlinks: true,
    });
  }
});
afterAll(async () => {
  rmSync(dir, { recursive: true, force: true });
  await database.drop();
});

it('contains all that API, worker and command line need, and no build tools', async () => {
  // The packages are symbolic links here. Resolved by their real paths, they would find all
  // others.
  const environment = {
    DATABASE_URL: database.url,
    NODE_OPTIONS: '--preserve-symlinks --preserve-symlinks-main',
    OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9',
  };
  const running = await Promise.all([
    startApi(environment, image),
    startWorker(environment, image),
  ]);
  try {
    for (const path of ['/openapi.json', '/docs/', '/console/']) {
      expect((await send('GET', `${running[0].url}${path}`)).status).toBe(200);
    }
  } finally {
    await Promise.all(running.map((one) => one.stop()));
  }
  const help = execFileSync('node', ['dist/apps/cli/src/main.js', 'users', '--help'], {
    cwd: image,
    env: { ...process.env, ...environment },
  });
  expect(help.toString()).toContain('create');
  const link = /^RUN ln -s \/app\/(\S+) \/usr\/local\/bin\/switchhook$/m.exec(final)?.[1] ?? '';
  symlinkSync(join(image, link), join(dir, 'switchhook'));
  const version = execFileSync(join(dir, 'switchhook'), ['--version'], {
    env: { ...process.env, NODE_OPTIONS: '' },
  });
  expect(version.toString()).toMatch(/^\d+\.\d+\.\d+(-dev\+sources\.[0-9a-f]{8})?\n$/);
  expect(() => readFileSync(join(image, 'node_modules/typescript/package.json'))).toThrow();
});

/** The packages that `npm prune --omit=dev` keeps, according to the lockfile. */
function linkProductionPackages(directory: string): void {
  const { packages } = JSON.parse(read('package-lock.json')) as {
    packages: Record<string, { dev?: boolean; link?: boolean }>;
  };
  for (const [path, { dev, link }] of Object.entries(packages)) {
    // A nested package comes with the package that holds it.
    if (dev === true || link === true || path.lastIndexOf('node_modules/') !== 0) continue;
    mkdirSync(dirname(join(directory, path)), { recursive: true });
    symlinkSync(join(ROOT, path), join(directory, path));
  }
}
