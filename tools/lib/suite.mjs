import { inOwnDirectory, runTests } from './own-directory.mjs';
import { prepare } from './prepare.mjs';
import { Problem } from './problem.mjs';
import { requireNode, ROOT } from './settings.mjs';
import { requireStores } from './stores.mjs';
import { runTask } from './tasks.mjs';

/**
 * Compiles a suite that does to stores of its own what could not be done to given ones, and runs it
 * with our own arguments.
 * @param {string} name of its folder in `test`
 * @param {{ needs?: (() => Promise<void>) | undefined, within?: (command: [string, string[]]) => [string, string[]] }}
 *   options `needs` gets what it needs besides the stores; `within`: what runs the command
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
