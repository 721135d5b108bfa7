import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Children } from './children.mjs';
import { tryLock } from './lock.mjs';
import { stopping } from './stopping.mjs';
import { endTasks } from './tasks.mjs';

const PREFIX = 'switchhook-test-';
/** What a shell says of a program that a signal ended. */
const INTERRUPTED = 130;

/**
 * Runs tests in a directory of their own, which is gone afterwards together with all that was
 * started in it; then exits.
 * @param {() => Promise<void>} prepare comes first, while there is no directory yet
 * @param {(run: { dir: string, children: Children, env: object, isStopping: () => boolean,
 *   onExit: (name: string, how: string) => void }) => Promise<number>} work resolves with the exit
 *   code; `env` is for the tests, and `onExit` for a program without which they make no sense
 */
export function inOwnDirectory(prepare, work) {
  let dir;
  let children;
  const { stop, fail, isStopping } = stopping(async () => {
    await endTasks();
    await children?.end();
    if (dir) rmSync(dir, { recursive: true, force: true });
  }, INTERRUPTED);

  const onExit = (name, how) => {
    if (isStopping()) return;
    console.error(`switchhook: ${children.failure(name, how).message}`);
    void stop(1);
  };

  const main = async () => {
    await prepare();
    await sweep();
    dir = ownDirectory();
    children = new Children(dir);
    // Whatever the tests leave behind goes with our directory.
    const env = { ...process.env, TMPDIR: join(dir, 'tmp') };
    mkdirSync(env.TMPDIR);
    for (const name of ['DATABASE_URL', 'MIGRATION_DATABASE_URL', 'REDIS_URL']) delete env[name];
    await stop(await work({ dir, children, env, isStopping, onExit }));
  };
  main().catch(fail);
}

/**
 * Runs a program of the tests, and at our end ends what it has started and not ended.
 * @returns {Promise<number>} its exit code
 */
export async function runTests(command, args, { children, env, isStopping }, root) {
  const stdio = ['ignore', 'inherit', 'inherit'];
  const options = { cwd: root, env, stdio, withGroup: true };
  const how = await children.start('tests', command, args, options).exited;
  const code = /^exited with code (\d+)$/.exec(how)?.[1];
  if (code === undefined && !isStopping()) console.error(`the tests ${how}`);
  return Number(code ?? 1);
}

/** A directory that {@link sweep} of another run does not take for a left-over. */
function ownDirectory() {
  for (;;) {
    const fresh = mkdtempSync(join(tmpdir(), PREFIX));
    if (tryLock(join(fresh, 'test.lock')).lock) return fresh;
  }
}

/** Removes what killed runs have left: their processes, then their directories. */
async function sweep() {
  const ours = (path) => statSync(path, { throwIfNoEntry: false })?.uid === process.getuid?.();
  for (const name of readdirSync(tmpdir()).filter((entry) => entry.startsWith(PREFIX))) {
    const path = join(tmpdir(), name);
    if (!ours(path) || !tryLock(join(path, 'test.lock')).lock) continue;
    await new Children(path).endLeftOvers();
    rmSync(path, { recursive: true, force: true });
  }
}
