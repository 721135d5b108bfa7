import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { cp, mkdir, mkdtemp, readdir, realpath, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { requireProgram } from '#tools/apt';
import { ROOT } from '#tools/settings';
import { testDatabaseUrl } from './environment.js';

await requireProgram('git');

export const PAGES = join(ROOT, 'docs/extending');
const LEFT_OUT = ['.git', 'node_modules', '.data', 'coverage'];
/** Redis databases below this one belong to the tests that run at the same time. */
const FIRST_REDIS_DATABASE = 8;

/** A page with a patch. */
export interface Example {
  name: string;
  page: string;
  patch: string;
  /** The files that the patch changes or adds. */
  files: string[];
  /** The arguments with which the page's `npm test -- …` selects test files. */
  filters: string[];
}

export function exampleOf(name: string): Example {
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

export const examples = ['field', 'context'].map((name) => [name, exampleOf(name)] as const);

export const specsOf = ({ files }: Example) => files.filter((path) => path.endsWith('spec.ts'));

/** A copy of the repository, with all patches applied. @param leftOut which of its files and folders it lacks */
export async function patchedCopy(leftOut: readonly string[] = []): Promise<string> {
  const root = await realpath(await mkdtemp(join(tmpdir(), 'switchhook-extended-')));
  for (const name of await readdir(ROOT)) {
    if ([...LEFT_OUT, ...leftOut].includes(name)) continue;
    await cp(join(ROOT, name), join(root, name), { recursive: true, preserveTimestamps: true });
  }
  // Links each package, so that the caches of this tree stay in it.
  await mkdir(join(root, 'node_modules'));
  for (const name of await readdir(join(ROOT, 'node_modules'))) {
    if (/^\.(?:cache|vite)/.test(name)) continue;
    await symlink(join(ROOT, 'node_modules', name), join(root, 'node_modules', name));
  }
  for (const [, { patch }] of examples) await succeed(root, ['git', 'apply', patch]);
  return root;
}

/** Runs a program in a tree. */
export function runIn(
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

export async function succeed(root: string, command: readonly string[]): Promise<string> {
  const { failed, output } = await runIn(root, command);
  if (failed) throw new Error(`${command.join(' ')}:\n${output}`);
  return output;
}
