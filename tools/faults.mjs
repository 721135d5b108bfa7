// `npm run test:faults`: does harm to a whole installation and counts what is lost (docs/reliability.md).
import { inOwnDirectory, runNode } from './lib/own-directory.mjs';
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
  (run) => runNode('faults', ['dist/faults/main.js', ...process.argv.slice(2)], run, ROOT),
);
