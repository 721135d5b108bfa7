import { execFile } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { cp, mkdir, mkdtemp, readdir, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { setPriority, tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { stripVTControlCharacters } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { testDatabaseUrl } from '../support/environment.js';
import { carriedOut, type WorkedExample, workedExamples } from '../support/worked-examples.js';

const REPOSITORY = fileURLToPath(new URL('../../', import.meta.url));
const LEFT_OUT = ['.git', 'node_modules', 'dist', '.data', 'coverage'];
/** The tests beside these have the databases of Redis before this one. */
const FIRST_REDIS_DATABASE = 8;
const MINUTES_MS = 60_000;
/** How the page says that `npm run check` ends well. */
const CHECK_SHOWS = [
  '✔ no dependency violations found',
  'All matched files use Prettier code style!',
];

const page = readFileSync(join(REPOSITORY, 'docs/extending.md'), 'utf8');
const examples = workedExamples(page).map((example) => [example.title, example] as const);

/** What Vitest reports of a file. */
interface Report {
  name: string;
  status: string;
  message: string;
  assertionResults: { failureMessages: string[] }[];
}

function readIn(directory: string): (path: string) => string | undefined {
  return (path) => {
    const file = join(directory, path);
    return existsSync(file) ? readFileSync(file, 'utf8') : undefined;
  };
}

/** The repository with all examples in it, one after the other. @returns the paths of their files */
async function plant(root: string): Promise<string[]> {
  for (const name of await readdir(REPOSITORY)) {
    if (LEFT_OUT.includes(name)) continue;
    await cp(join(REPOSITORY, name), join(root, name), { recursive: true });
  }
  // Package by package, so that the caches of this tree stay in it.
  await mkdir(join(root, 'node_modules'));
  for (const name of await readdir(join(REPOSITORY, 'node_modules'))) {
    if (/^\.(?:cache|vite)/.test(name)) continue;
    await symlink(join(REPOSITORY, 'node_modules', name), join(root, 'node_modules', name));
  }
  const files = new Set<string>();
  for (const [, example] of examples) {
    for (const [path, text] of carriedOut(example, readIn(root))) {
      await mkdir(dirname(join(root, path)), { recursive: true });
      await writeFile(join(root, path), text);
      files.add(path);
    }
  }
  return [...files];
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
    // The tests beside these keep their times.
    if (child.pid !== undefined) setPriority(child.pid, 5);
  });
}

/** The commands of an example that begin so, and what the page says that they show. */
function commandsOf({ commands }: WorkedExample, start: string) {
  return commands.filter(({ line }) => line.startsWith(start));
}

/** What an example's `npm test -- …` picks the test files by. */
function filtersOf(example: WorkedExample): string[] {
  return commandsOf(example, 'npm test -- ').flatMap(({ line }) => line.split(' ').slice(3));
}

it('has an example of each kind of extension', () => {
  expect(examples.map(([title]) => title)).toEqual([
    'A new event kind',
    'A new field',
    'A new bounded context',
    'A new delivery channel',
  ]);
});

it.each(examples)('%s: fits the code as it is, without the others', (_title, example) => {
  expect(carriedOut(example, readIn(REPOSITORY)).size).toBeGreaterThan(3);
});

it.each(examples)(
  '%s: is checked, and runs each test that it adds or changes',
  (_title, example) => {
    expect(commandsOf(example, 'npm run check').flatMap(({ shows }) => shows)).toEqual(CHECK_SHOWS);
    const specs = example.steps.flatMap(({ path }) => (path?.endsWith('spec.ts') ? [path] : []));
    const filters = filtersOf(example);
    expect(specs).not.toEqual([]);
    expect(specs.filter((path) => !filters.some((filter) => path.includes(filter)))).toEqual([]);
  },
);

describe('the examples together', () => {
  const reports = new Map<string, Report>();
  let root: string;
  let changed: string[];

  /** Runs all the tests that the page runs at once: the tree is built only one time. */
  beforeAll(async () => {
    root = await realpath(await mkdtemp(join(tmpdir(), 'switchhook-extended-')));
    changed = await plant(root);
    const generating = examples.flatMap(([, example]) => commandsOf(example, 'npm run client:'));
    for (const { line } of generating.slice(0, 1)) await runIn(root, line.split(' '));
    const filters = new Set(examples.flatMap(([, example]) => filtersOf(example)));
    const file = join(root, 'dist/reports.json');
    const options = ['--reporter=json', `--outputFile=${file}`];
    const { output } = await runIn(root, ['npm', 'test', '--', ...filters, ...options]);
    if (!existsSync(file)) throw new Error(`${titlesIn(output)}, does not build:\n${output}`);
    const { testResults } = JSON.parse(readFileSync(file, 'utf8')) as { testResults: Report[] };
    for (const report of testResults) reports.set(relative(root, report.name), report);
  }, 5 * MINUTES_MS);
  afterAll(() => rm(root, { recursive: true }));

  it.each(examples)('%s: passes its tests, as many as it says', (_title, example) => {
    for (const { line, shows } of commandsOf(example, 'npm test -- ')) {
      const filters = line.split(' ').slice(3);
      const own = [...reports].filter(([path]) => filters.some((filter) => path.includes(filter)));
      const faults = own.flatMap(([path, { status, message, assertionResults }]) =>
        status === 'passed'
          ? []
          : [path, message, ...assertionResults.flatMap((result) => result.failureMessages)],
      );
      expect(faults).toEqual([]);
      expect(shows).toEqual([`Test Files  ${own.length} passed (${own.length})`]);
    }
  });

  // What `npm run check` runs, without the files that are as they were.
  it.each<[what: string, shows: string, command: () => string[]]>([
    ['types', '', () => ['npm', 'run', '-s', 'check:types']],
    ['layers', CHECK_SHOWS[0]!, () => ['npm', 'run', '-s', 'check:layers']],
    ['habits', '', () => [...tool('eslint'), ...changed.filter((path) => /\.c?[jt]s$/.test(path))]],
    ['format', CHECK_SHOWS[1]!, () => [...tool('prettier'), '--check', ...changed]],
  ])(
    'pass the check of %s',
    async (_what, shows, command) => {
      const { failed, output } = await runIn(root, command());
      expect(failed ? `${titlesIn(output)}:\n${output}` : '').toBe('');
      expect(output).toContain(shows);
    },
    5 * MINUTES_MS,
  );

  function tool(name: string): string[] {
    return [`node_modules/.bin/${name}`, '--config', `tools/${name}.config.mjs`];
  }

  /** The sections whose files an output names. */
  function titlesIn(output: string): string {
    const named = examples.filter(([, { steps }]) =>
      steps.some(({ path }) => path !== undefined && output.includes(path)),
    );
    return `docs/extending.md, ${named.map(([title]) => `"${title}"`).join(', ')}`;
  }
});

describe('an example that does not fit', () => {
  const diff = (lines: string) => `\`\`\`diff\n--- a/f.ts\n+++ b/f.ts\n${lines}\n\`\`\``;

  it.each<[what: string, block: string, source: string | undefined, message: RegExp]>([
    ['changes a line that is another now', diff('@@ -1 +1 @@\n-old\n+new'), 'other\n', /0 times/],
    ['has a context that is another now', diff('@@ -1,2 +1,3 @@\n a\n+b\n c'), 'a\nd\n', /0 times/],
    ['could mean two places', diff('@@ -1 +1 @@\n-old\n+new'), 'old\nold\n', /2 times/],
    ['changes a file that is gone', diff('@@ -1 +1 @@\n-old\n+new'), undefined, /is not there/],
    ['adds a file that is there', 'New file `f.ts`:\n\n```ts\na;\n```', 'a;\n', /is there already/],
    ['does not name a file', 'A file:\n\n```ts\na;\n```', undefined, /does not say which file/],
  ])('is one that %s', (_what, block, source, message) => {
    const [example] = workedExamples(`# Page\n\n## A section\n\n${block}\n`);
    const attempt = () => carriedOut(example!, () => source);
    expect(attempt).toThrow(message);
    expect(attempt).toThrow('docs/extending.md, "A section", ');
  });
});
