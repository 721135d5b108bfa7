import { execFile } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { cp, mkdir, mkdtemp, readdir, realpath, rm, symlink } from 'node:fs/promises';
import { setPriority, tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { stripVTControlCharacters } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { testDatabaseUrl } from '../support/environment.js';

const REPOSITORY = fileURLToPath(new URL('../../', import.meta.url));
const PAGES = join(REPOSITORY, 'docs/extending');
const LEFT_OUT = ['.git', 'node_modules', 'dist', '.data', 'coverage'];
/** The tests beside this one use the Redis databases below this one. */
const FIRST_REDIS_DATABASE = 8;
const MINUTES_MS = 60_000;

/** A page with a patch. */
interface Example {
  name: string;
  page: string;
  patch: string;
  /** The files that the patch changes or adds. */
  files: string[];
  /** The arguments with which the page's `npm test -- …` selects test files. */
  filters: string[];
}

function exampleOf(name: string): Example {
  const page = readFileSync(join(PAGES, `${name}.md`), 'utf8');
  const patch = join(PAGES, `${name}.patch`);
  const files = readFileSync(patch, 'utf8').matchAll(/^\+\+\+ b\/(.*)$/gm);
  const [, filters = ''] = /^ {4}npm test -- (.*)$/m.exec(page) ?? [];
  return {
    name,
    page,
    patch,
    files: [...files].map(([, path = '']) => path),
    filters: filters.split(' '),
  };
}

const examples = ['event-kind', 'field', 'context', 'channel'].map(
  (name) => [name, exampleOf(name)] as const,
);

/** What Vitest reports about a file. */
interface Report {
  name: string;
  status: string;
  message: string;
  assertionResults: { failureMessages: string[] }[];
}

/** A copy of the repository with all patches applied. */
async function extendedCopy(): Promise<string> {
  const root = await realpath(await mkdtemp(join(tmpdir(), 'switchhook-extended-')));
  for (const name of await readdir(REPOSITORY)) {
    if (LEFT_OUT.includes(name)) continue;
    await cp(join(REPOSITORY, name), join(root, name), { recursive: true });
  }
  // Links each package, so that the caches of this tree stay in it.
  await mkdir(join(root, 'node_modules'));
  for (const name of await readdir(join(REPOSITORY, 'node_modules'))) {
    if (/^\.(?:cache|vite)/.test(name)) continue;
    await symlink(join(REPOSITORY, 'node_modules', name), join(root, 'node_modules', name));
  }
  for (const [, { patch }] of examples) {
    const { failed, output } = await runIn(root, ['git', 'apply', patch]);
    if (failed) throw new Error(output);
  }
  return root;
}

/** Runs a program in a tree. */
function runIn(
  root: string,
  [program = '', ...args]: readonly string[],
): Promise<{ failed: boolean; output: string }> {
  const redis = new URL(process.env.TEST_REDIS_URL ?? '');
  redis.pathname = `/${String(FIRST_REDIS_DATABASE)}`;
  const env = {
    ...process.env,
    TEST_DATABASE_URL: testDatabaseUrl().toString(),
    TEST_REDIS_URL: redis.toString(),
    NO_COLOR: '1',
  };
  return new Promise((resolve) => {
    const child = execFile(program, args, { cwd: root, env, maxBuffer: 2 ** 26 }, (...ended) => {
      const [failure, stdout, stderr] = ended;
      resolve({ failed: failure !== null, output: stripVTControlCharacters(stdout + stderr) });
    });
    // Leaves CPU time for the tests that run beside this one.
    if (child.pid !== undefined) setPriority(child.pid, 5);
  });
}

it.each(examples)('%s: the patch applies without the others', async (_name, { patch }) => {
  const { failed, output } = await runIn(REPOSITORY, ['git', 'apply', '--check', patch]);
  expect([failed, output]).toEqual([false, '']);
});

it.each(examples)('%s: the page names each file of the patch', (_name, { page, files }) => {
  expect(files.length).toBeGreaterThan(3);
  expect(files.filter((path) => !page.includes(`\`${path}\``))).toEqual([]);
});

it('context: changes no other library', () => {
  const elsewhere = exampleOf('context').files.filter((path) => !path.startsWith('libs/numbers/'));
  expect(elsewhere.filter((path) => path.startsWith('libs/'))).toEqual([]);
});

it.each(examples)('%s: the page runs each test of the patch', (_name, { files, filters }) => {
  const specs = files.filter((path) => path.endsWith('spec.ts'));
  expect(specs).not.toEqual([]);
  expect(specs.filter((path) => !filters.some((filter) => path.includes(filter)))).toEqual([]);
});

describe('all patches together', () => {
  const reports = new Map<string, Report>();
  let root: string;

  /** Runs the tests of all pages together, so that the tree is built only once. */
  beforeAll(async () => {
    root = await extendedCopy();
    const generated = await runIn(root, ['npm', 'run', 'client:generate']);
    if (generated.failed) throw new Error(`the patches do not build:\n${generated.output}`);
    const filters = new Set(examples.flatMap(([, example]) => example.filters));
    const file = join(root, 'dist/reports.json');
    const options = ['--reporter=json', `--outputFile=${file}`];
    const { output } = await runIn(root, ['npm', 'test', '--', ...filters, ...options]);
    if (!existsSync(file)) throw new Error(output);
    const { testResults } = JSON.parse(readFileSync(file, 'utf8')) as { testResults: Report[] };
    for (const report of testResults) reports.set(relative(root, report.name), report);
  }, 15 * MINUTES_MS);
  afterAll(() => rm(root, { recursive: true }));

  it.each(examples)(
    'pass the tests of %s, as many as the page says',
    (_name, { page, filters }) => {
      const own = [...reports].filter(([path]) => filters.some((filter) => path.includes(filter)));
      const faults = own.flatMap(([path, { status, message, assertionResults }]) =>
        status === 'passed'
          ? []
          : [path, message, ...assertionResults.flatMap((result) => result.failureMessages)],
      );
      expect(faults).toEqual([]);
      expect(page).toContain(`\nTest Files  ${own.length} passed (${own.length})\n`);
    },
  );

  // The parts of `npm run check`; lint and format look only at the changed files.
  it.each<[what: string, shows: string, command: () => string[]]>([
    ['types', '', () => ['npm', 'run', '-s', 'check:types']],
    ['layers', '✔ no dependency violations found', () => ['npm', 'run', '-s', 'check:layers']],
    ['lint', '', () => [...tool('eslint'), ...changed().filter((path) => /\.c?[jt]s$/.test(path))]],
    [
      'format',
      'All matched files use Prettier',
      () => [...tool('prettier'), '--check', ...changed()],
    ],
  ])(
    'pass the %s check',
    async (_what, shows, command) => {
      const { failed, output } = await runIn(root, command());
      expect(failed ? output : '').toBe('');
      expect(output).toContain(shows);
    },
    5 * MINUTES_MS,
  );

  function changed(): string[] {
    return [...new Set(examples.flatMap(([, { files }]) => files))];
  }

  function tool(name: string): string[] {
    return [`node_modules/.bin/${name}`];
  }
});
