import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Children } from './children.mjs';
import { tryLock } from './lock.mjs';
import { ROOT } from './settings.mjs';
import { stopping } from './stopping.mjs';
import { endTasks } from './tasks.mjs';

const PREFIX = 'switchhook-test-';
/** The shell's exit code for a program ended by SIGINT. */
const INTERRUPTED = 130;

/**
 * @typedef {import('./programs.mjs').Program} Program
 * @typedef {{ dir: string, children: Children, env: NodeJS.ProcessEnv, isStopping: () => boolean,
 *   watch: (program: Program) => void }} Run `env` is for the tests; `watch` aborts them when its program ends
 */

/**
 * Runs tests in a temporary directory, removes it with all programs started in it, and exits.
 * @param {() => Promise<void>} prepare runs before the directory exists
 * @param {(run: Run) => Promise<number>} work resolves with the exit code
 */
export function inOwnDirectory(prepare, work) {
  /** @type {string | undefined} */
  let dir;
  /** @type {Children | undefined} */
  let children;
  const { stop, fail, isStopping } = stopping(async () => {
    await endTasks();
    await children?.end();
    if (dir) rmSync(dir, { recursive: true, force: true });
  }, INTERRUPTED);

  const watch = (/** @type {Program} */ program) => {
    void program.exited.then((how) => {
      if (!isStopping()) void fail(program.failure(how));
    });
  };

  const main = async () => {
    await prepare();
    await sweep();
    dir = ownDirectory();
    children = new Children(dir);
    // The directory is removed with everything that the tests leave behind.
    const tmp = join(dir, 'tmp');
    mkdirSync(tmp);
    const stores = {
      DATABASE_URL: undefined,
      MIGRATION_DATABASE_URL: undefined,
      REDIS_URL: undefined,
    };
    const env = { ...process.env, ...stores, TMPDIR: tmp };
    await stop(await work({ dir, children, env, isStopping, watch }));
  };
  main().catch(fail);
}

/**
 * Runs a program of the tests. At our end, also ends the processes that it has started.
 * @param {string} command @param {string[]} args @param {Run} run
 * @returns {Promise<number>} its exit code
 */
export async function runTests(command, args, { children, env, isStopping }) {
  /** @type {import('./programs.mjs').Options} */
  const options = { cwd: ROOT, env, stdio: ['ignore', 'inherit', 'inherit'], withGroup: true };
  const how = await children.start('tests', command, args, options).exited;
  const code = /^exited with code (\d+)$/.exec(how)?.[1];
  if (code === undefined && !isStopping()) console.error(`the tests ${how}`);
  return Number(code ?? 1);
}

/** A directory that another run's {@link sweep} does not take for a leftover. */
function ownDirectory() {
  for (;;) {
    const fresh = mkdtempSync(join(tmpdir(), PREFIX));
    if (tryLock(join(fresh, 'test.lock')).lock) return fresh;
  }
}

/** Removes the leftovers of killed runs: their processes, then their directories. */
async function sweep() {
  const ours = (/** @type {string} */ path) =>
    statSync(path, { throwIfNoEntry: false })?.uid === process.getuid?.();
  for (const name of readdirSync(tmpdir()).filter((entry) => entry.startsWith(PREFIX))) {
    const path = join(tmpdir(), name);
    if (!ours(path) || !tryLock(join(path, 'test.lock')).lock) continue;
    await new Children(path).endLeftOvers();
    rmSync(path, { recursive: true, force: true });
  }
}
