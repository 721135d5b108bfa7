// Of `npm run build`: bundles the programs with their packages, because Node.js takes longer to find and load two thousand
// files than to run them.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'rolldown';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const PROGRAMS = ['apps/api/src/main', 'apps/worker/src/main', 'apps/cli/src/main'];
/** What scripts in tools import. */
const FOR_TOOLS = ['apps/api/src/docs/api-description', 'libs/runtime/src/config/config'];

/**
 * Stack traces name lines of our sources. With the lines of packages as well, the maps would cost each process
 * 15 MB.
 */
const mapOnlySources = {
  name: 'map-only-sources',
  transform: {
    filter: { id: /node_modules/ },
    handler: (/** @type {string} */ code) => ({ code, map: { mappings: '' } }),
  },
};

/** It looks at run time for classes that TypeORM 1 no longer has, and would load a second TypeORM. */
const withoutCompat = {
  name: 'without-compat',
  load: {
    filter: { id: /@nestjs\/typeorm\/dist\/common\/typeorm-compat\.js$/ },
    handler: () => 'export const Connection = undefined, AbstractRepository = undefined;',
  },
};

/** What is built: the commit or, without git, as in the builder of an image, a hash of the sources. */
function builtFrom() {
  try {
    const args = ['describe', '--always', '--dirty', '--abbrev=8', '--exclude=*'];
    return execFileSync('git', args, { cwd: ROOT, stdio: 'pipe', encoding: 'utf8' }).trim();
  } catch {
    const hash = createHash('sha256');
    for (const dir of ['apps', 'libs']) {
      const files = readdirSync(join(ROOT, dir), { recursive: true, withFileTypes: true });
      const paths = files
        .filter((one) => one.isFile())
        .map((one) => join(one.parentPath, one.name));
      for (const path of paths.sort()) hash.update(readFileSync(path));
    }
    return `sources.${hash.digest('hex').slice(0, 8)}`;
  }
}

/**
 * @param {string[]} sources without `.ts`
 * @param {string} dir
 * @throws Error with all errors in its message
 */
export async function bundle(sources, dir) {
  await build({
    cwd: ROOT,
    input: Object.fromEntries(sources.map((path) => [path, `${path}.ts`])),
    platform: 'node',
    tsconfig: 'tsconfig.json',
    transform: { define: { BUILT_FROM: JSON.stringify(builtFrom()) } },
    // With `compress: false`, removes nothing: otherwise even decodeURIComponent() in a `try` counts as dead code.
    treeshake: false,
    external: [
      // They look for files beside their own.
      'ioredis',
      'msgpackr-extract',
      // Optional parts of packages, which we do not install.
      /^@nestjs\/(microservices|websockets)/,
      'class-transformer/storage',
      'pg-native',
    ],
    plugins: [mapOnlySources, withoutCompat],
    output: {
      dir,
      // Node.js keeps the text in memory, with two bytes for each character if one of them is not Latin-1.
      minify: { compress: false, mangle: false, codegen: { removeWhitespace: true } },
      charset: 'ascii',
      keepNames: true,
      entryFileNames: '[name].js',
      chunkFileNames: 'libs/[name].js',
      sourcemap: true,
      sourcemapExcludeSources: true,
    },
    // How long the plugins above take is known.
    checks: { bundlerTimings: false },
    logLevel: 'warn',
  });
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  await bundle([...PROGRAMS, ...FOR_TOOLS], 'dist');
}
