import { execFile } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { cp, mkdir, mkdtemp, readdir, realpath, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { stripVTControlCharacters } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { requireProgram } from '#tools/apt';
import { runtimeSchema } from '#libs/runtime';
import { contextSchemas } from '../../apps/cli/src/context-schemas.js';
import { testDatabaseUrl } from '../support/environment.js';

await requireProgram('git');

const REPOSITORY = fileURLToPath(new URL('../../', import.meta.url));
const PAGES = join(REPOSITORY, 'docs/extending');
const LEFT_OUT = ['.git', 'node_modules', '.data', 'coverage'];
/** What the compiler knows of the tree, so that it looks again only at what the patches change. */
const COMPILED = 'node_modules/.cache/tsc';
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

const examples = ['field', 'context'].map((name) => [name, exampleOf(name)] as const);

const specsOf = ({ files }: Example) => files.filter((path) => path.endsWith('spec.ts'));

/** What Vitest reports about a file. */
interface Report {
  name: string;
  status: string;
  message: string;
  assertionResults: { failureMessages: string[] }[];
}

/** A copy of the repository, built, with all patches applied. */
async function extendedCopy(): Promise<string> {
  const root = await realpath(await mkdtemp(join(tmpdir(), 'switchhook-extended-')));
  for (const name of await readdir(REPOSITORY)) {
    if (LEFT_OUT.includes(name)) continue;
    await cp(join(REPOSITORY, name), join(root, name), {
      recursive: true,
      preserveTimestamps: true,
    });
  }
  // Links each package, so that the caches of this tree stay in it.
  await mkdir(join(root, 'node_modules'));
  for (const name of await readdir(join(REPOSITORY, 'node_modules'))) {
    if (/^\.(?:cache|vite)/.test(name)) continue;
    await symlink(join(REPOSITORY, 'node_modules', name), join(root, 'node_modules', name));
  }
  if (existsSync(join(REPOSITORY, COMPILED))) {
    await cp(join(REPOSITORY, COMPILED), join(root, COMPILED), { recursive: true });
  }
  for (const [, { patch }] of examples) await succeed(root, ['git', 'apply', patch]);
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
    execFile(program, args, { cwd: root, env, maxBuffer: 2 ** 26 }, (failure, stdout, stderr) =>
      resolve({ failed: failure !== null, output: stripVTControlCharacters(stdout + stderr) }),
    );
  });
}

async function succeed(root: string, command: readonly string[]): Promise<string> {
  const { failed, output } = await runIn(root, command);
  if (failed) throw new Error(`${command.join(' ')}:\n${output}`);
  return output;
}

it.each(examples)('%s: the patch applies without the other', async (_name, { patch }) => {
  const { failed, output } = await runIn(REPOSITORY, ['git', 'apply', '--check', patch]);
  expect([failed, output]).toEqual([false, '']);
});

it.each(examples)('%s: the page names each file of the patch', (_name, { page, files }) => {
  expect(files.length).toBeGreaterThan(3);
  expect(files.filter((path) => !page.includes(`\`${path}\``))).toEqual([]);
});

it('each page names only files that are there or that its patch adds', () => {
  const pages = readdirSync(PAGES).filter((name) => name.endsWith('.md'));
  const missing = pages.flatMap((page) => {
    const added = examples.flatMap(([name, { files }]) => (page === `${name}.md` ? files : []));
    const named = readFileSync(join(PAGES, page), 'utf8').matchAll(
      /`((?:apps|docs|libs|test|tools)\/[\w./-]+)`/g,
    );
    return [...named]
      .map(([, path = '']) => path)
      .filter((path) => !added.includes(path) && !existsSync(join(REPOSITORY, path)))
      .map((path) => `${page}: ${path}`);
  });
  expect(missing).toEqual(['context.md: libs/numbers']);
});

it('context: changes no other library', () => {
  const elsewhere = exampleOf('context').files.filter((path) => !path.startsWith('libs/numbers/'));
  expect(elsewhere.filter((path) => path.startsWith('libs/'))).toEqual([]);
});

it.each(examples)('%s: its migration comes after all others', (_name, { patch }) => {
  const [, added] = /^\+ {2}'\w+?(\d{13})',$/m.exec(readFileSync(patch, 'utf8')) ?? [];
  const migrations = [runtimeSchema, ...contextSchemas].flatMap((context) => context.migrations);
  const others = migrations.map((Migration) => Number(new Migration().name?.slice(-13)));
  expect(Number(added)).toBeGreaterThan(Math.max(...others));
});

it.each(examples)('%s: the page runs each test of the patch', (_name, example) => {
  const specs = specsOf(example);
  expect(specs).not.toEqual([]);
  const { filters } = example;
  expect(specs.filter((path) => !filters.some((filter) => path.includes(filter)))).toEqual([]);
});

describe('both patches together', () => {
  const tool = (name: string) => [`node_modules/.bin/${name}`];
  const TESTS = ['--config', 'tools/vitest.config.mjs', '--project=unit', '--project=system'];
  let root: string;

  beforeAll(async () => {
    root = await extendedCopy();
    // As `npm run client:generate`, without the pages, which the patches leave as they are. Types come later.
    await succeed(root, [...tool('tsc'), '-p', 'apps/tsconfig.json', '--noCheck']);
    await succeed(root, ['node', 'tools/client-types.mjs']);
  }, 5 * MINUTES_MS);
  afterAll(() => rm(root, { recursive: true }));

  it(
    'pass the tests that they add or change, and those that they make look at more',
    async () => {
      const chosen = examples.flatMap(([, example]) => specsOf(example));
      const more = [
        'test/integration/schema-drift.int-spec.ts',
        'test/e2e/account-isolation.e2e-spec.ts',
      ];
      const file = join(root, 'dist/reports.json');
      const options = ['--reporter=json', `--outputFile=${file}`, '--maxWorkers=1'];
      const { output } = await runIn(root, [
        ...[...tool('vitest'), 'run', ...TESTS, ...options],
        ...[...chosen, ...more],
      ]);
      if (!existsSync(file)) throw new Error(output);
      const { testResults } = JSON.parse(readFileSync(file, 'utf8')) as { testResults: Report[] };
      const faults = testResults.flatMap(({ name, status, message, assertionResults }) =>
        status === 'passed'
          ? []
          : [name, message, ...assertionResults.flatMap((result) => result.failureMessages)],
      );
      expect(faults).toEqual([]);
      const run = testResults.map(({ name }) => relative(root, name)).sort();
      expect(run).toEqual([...chosen, ...more].sort());
    },
    5 * MINUTES_MS,
  );

  it.each(examples)('%s: the page says how many files it tests', async (_name, example) => {
    const list = [...tool('vitest'), 'list', '--filesOnly', ...TESTS, ...example.filters];
    const files = (await succeed(root, list)).split('\n').filter((line) => line.endsWith('.ts'));
    const count = String(files.length);
    expect(example.page).toContain(`\nTest Files  ${count} passed (${count})\n`);
  });

  // What `npm run check` finds in code that works. Format looks only at the changed files.
  it.each<[what: string, shows: string, command: () => string[]]>([
    ['types', '', () => [...tool('tsc'), '-p', 'tsconfig.json']],
    ['layers', '✔ no dependency violations found', () => ['npm', 'run', '-s', 'check:layers']],
    ['console types', '', () => [...tool('tsc'), '-p', 'apps/console/tsconfig.json']],
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
});
