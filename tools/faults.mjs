// `npm run test:faults`: does harm to a whole installation and counts what is lost (docs/reliability.md).
import { spawnSync } from 'node:child_process';
import { inOwnDirectory, runTests } from './lib/own-directory.mjs';
import { prepare } from './lib/prepare.mjs';
import { Problem } from './lib/problem.mjs';
import { requireNode, ROOT } from './lib/settings.mjs';
import { requireStores } from './lib/stores.mjs';
import { runTask } from './lib/tasks.mjs';

inOwnDirectory(
  async () => {
    requireNode();
    // Given stores would not do: these are killed.
    requireStores({});
    await prepare(ROOT);
    const tsc = ['node_modules/typescript/bin/tsc', '-p', 'test/faults/tsconfig.json'];
    const { code } = await runTask(process.execPath, tsc, { cwd: ROOT });
    if (code !== 0) throw new Problem('the fault suite does not compile.');
  },
  (run) => runTests(...program(), run, ROOT),
);

/** With mounts of its own where that is allowed: they go with it, however it ends. */
function program() {
  const node = [process.execPath, ['dist/faults/main.js', ...process.argv.slice(2)]];
  const unshare = ['--mount', '--propagation', 'private'];
  const isAllowed = spawnSync('unshare', [...unshare, 'true']).status === 0;
  return isAllowed ? ['unshare', [...unshare, ...node.flat()]] : node;
}
