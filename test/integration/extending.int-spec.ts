import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { ROOT } from '#tools/settings';
import { runtimeSchema } from '#libs/runtime';
import { contextSchemas } from '../../apps/cli/src/context-schemas.js';
import { exampleOf, examples, PAGES, patchedCopy, runIn, specsOf } from '../support/extending.js';

it.each(examples)('%s: the patch applies without the other', async (_name, { patch }) => {
  const { failed, output } = await runIn(ROOT, ['git', 'apply', '--check', patch]);
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
      .filter((path) => !added.includes(path) && !existsSync(join(ROOT, path)))
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

// `npm run test:release` runs the patched tests, and checks all of the patched tree.
it('the code that both patches change or add compiles', async () => {
  const root = await patchedCopy(['dist']);
  const files = examples.flatMap(([, example]) => example.files);
  const settings = {
    extends: './tsconfig.json',
    compilerOptions: { incremental: false },
    include: [],
    files: files.filter((path) => path.endsWith('.ts') && !path.startsWith('apps/console/')),
  };
  await writeFile(join(root, 'patched.json'), JSON.stringify(settings));
  const { output } = await runIn(root, ['node_modules/.bin/tsc', '-p', 'patched.json']);
  await rm(root, { recursive: true });
  expect(output).toBe('');
});
