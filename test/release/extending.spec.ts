import { existsSync, readFileSync } from 'node:fs';
import { cp, rm } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { ROOT } from '#tools/settings';
import { examples, patchedCopy, runIn, specsOf, succeed } from '../support/extending.js';

/** What the compiler knows of the tree, so that it looks again only at what the patches change. */
const COMPILED = 'node_modules/.cache/tsc';
const TESTS = ['--config', 'tools/vitest.config.mjs', '--project=unit', '--project=system'];

/** What Vitest reports about a file. */
interface Report {
  name: string;
  status: string;
  message: string;
  assertionResults: { failureMessages: string[] }[];
}

const tool = (name: string) => [`node_modules/.bin/${name}`];
let root: string;

beforeAll(async () => {
  root = await patchedCopy();
  if (existsSync(join(ROOT, COMPILED))) {
    await cp(join(ROOT, COMPILED), join(root, COMPILED), { recursive: true });
  }
  // As `npm run client:generate`, without the pages, which the patches leave as they are. Types come later.
  await succeed(root, ['node', 'apps/bundle.mjs']);
  await succeed(root, ['node', 'tools/client-types.mjs']);
});
afterAll(() => rm(root, { recursive: true }));

it('both patches pass the tests that they add or change, and those that they make look at more', async () => {
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
});

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
])('both patches pass the %s check', async (_what, shows, command) => {
  const { failed, output } = await runIn(root, command());
  expect(failed ? output : '').toBe('');
  expect(output).toContain(shows);
});

function changed(): string[] {
  return [...new Set(examples.flatMap(([, { files }]) => files))];
}
