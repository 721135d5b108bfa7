import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { inOwnDirectory, runTests } from './own-directory.mjs';
import { prepare } from './prepare.mjs';
import { requireNode, ROOT } from './settings.mjs';
import { requireStores } from './stores.mjs';

const COMPILED = 'dist/suites';

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
      await prepare({ withChecks: true });
      await compile(['bench', name]);
    },
    (run) => {
      const args = [`${COMPILED}/test/${name}/main.js`, ...process.argv.slice(2)];
      return runTests(...within([process.execPath, args]), run);
    },
  );
}

/**
 * Compiles the programs of suites, and the sources that these import, file by file.
 * @param {string[]} names of folders in `test`
 * @param {string} dir within the repository
 */
export async function compile(names, dir = COMPILED) {
  // Only now, because it may have just been installed.
  const { build } = await import('rolldown');
  const programs = [...new Set(names)].flatMap((name) =>
    readdirSync(join(ROOT, 'test', name), { recursive: true, encoding: 'utf8' })
      .filter((file) => /(^|[./])main\.ts$/.test(file))
      .map((file) => `test/${name}/${file}`),
  );
  await build({
    cwd: ROOT,
    input: programs,
    platform: 'node',
    tsconfig: 'tsconfig.json',
    // As for the programs: see apps/bundle.mjs.
    treeshake: false,
    // Packages and tools are loaded as they are; helpers of the compiler, marked by a NUL, are compiled.
    external: /^(?!\.|\/|\0|test\/|#libs\/|@oxc-project\/runtime\/)/,
    output: {
      dir,
      minify: false,
      preserveModules: true,
      preserveModulesRoot: '.',
      entryFileNames: '[name].js',
    },
    logLevel: 'warn',
  });
}
