// `npm test`: the tests, with a PostgreSQL and a Redis of their own that are gone afterwards.
import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Children } from './lib/children.mjs';
import { tryLock } from './lib/lock.mjs';
import { prepare } from './lib/prepare.mjs';
import { requireNode, ROOT } from './lib/settings.mjs';
import { stopping } from './lib/stopping.mjs';
import { requireStores, startStores } from './lib/stores.mjs';
import { endTasks } from './lib/tasks.mjs';

const PREFIX = 'switchhook-test-';
/** What a shell says of a program that a signal ended. */
const INTERRUPTED = 130;

let dir;
let children;

const { stop, fail, isStopping } = stopping(async () => {
  await endTasks();
  await children?.end();
  if (dir) rmSync(dir, { recursive: true, force: true });
}, INTERRUPTED);

async function main() {
  requireNode();
  // Given stores are used as they are, as by npm start; DATABASE_URL is never one for tests.
  const { TEST_DATABASE_URL: databaseUrl, TEST_REDIS_URL: redisUrl } = process.env;
  const given = { databaseUrl, redisUrl };
  requireStores(given);
  await prepare(ROOT);
  await sweep();
  dir = ownDirectory();
  children = new Children(dir);
  const where = { dir, root: ROOT, database: 'switchhook_test' };
  const stores = await startStores(where, given, children, onExit);
  await stop(await runVitest(stores));
}

async function runVitest({ databaseUrl, redisUrl }) {
  const env = { ...process.env, TEST_DATABASE_URL: databaseUrl, TEST_REDIS_URL: redisUrl };
  for (const name of ['DATABASE_URL', 'MIGRATION_DATABASE_URL', 'REDIS_URL']) delete env[name];
  // Whatever the tests leave behind goes with our directory.
  env.TMPDIR = join(dir, 'tmp');
  mkdirSync(env.TMPDIR);
  const program = ['node_modules/vitest/vitest.mjs', 'run', '--config', 'tools/vitest.config.mjs'];
  const args = [...program, ...process.argv.slice(2)];
  const stdio = ['ignore', 'inherit', 'inherit'];
  const options = { cwd: ROOT, env, stdio, withGroup: true };
  const how = await children.start('vitest', process.execPath, args, options).exited;
  const code = /^exited with code (\d+)$/.exec(how)?.[1];
  if (code === undefined && !isStopping()) console.error(`vitest ${how}`);
  return Number(code ?? 1);
}

function onExit(name, how) {
  if (isStopping()) return;
  console.error(`switchhook: ${children.failure(name, how).message}`);
  void stop(1);
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

main().catch(fail);
