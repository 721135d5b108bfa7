import { inOwnDirectory, runTests } from './own-directory.mjs';
import { prepare } from './prepare.mjs';
import { Problem } from './problem.mjs';
import { requireNode, ROOT } from './settings.mjs';
import { requireStores } from './stores.mjs';
import { runTask } from './tasks.mjs';

/**
 * Compiles and runs a suite with our arguments. It uses its own stores, because it does things that given stores must
 * not suffer.
 * @param {string} name of its folder in `test`
 * @param {{ needs?: (() => Promise<void>) | undefined, within?: (command: [string, string[]]) => [string, string[]] }}
 *   options `needs` installs what it needs besides the stores; `within` wraps the command
 */
export function runSuite(name, { needs, within = (command) => command } = {}) {
  inOwnDirectory(
    async () => {
      requireNode();
      requireStores({});
      await needs?.();
      await prepare();
      const tsc = ['node_modules/typescript/bin/tsc', '-p', `test/${name}/tsconfig.json`];
      const { code } = await runTask(process.execPath, tsc, { cwd: ROOT });
      if (code !== 0) throw new Problem(`the suite ${name} does not compile.`);
    },
    (run) => {
      const args = [`dist/test/${name}/main.js`, ...process.argv.slice(2)];
      return runTests(...within([process.execPath, args]), run);
    },
  );
}
