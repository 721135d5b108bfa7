import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { takeLock } from './lock.mjs';
import { POSTGRES_VERSIONS } from './postgres-files.mjs';
import { Problem } from './problem.mjs';
import { progress } from './progress.mjs';
import { readText } from './processes.mjs';
import { ROOT } from './settings.mjs';
import { runTask } from './tasks.mjs';

/**
 * @typedef {import('./lock.mjs').Lock} Lock
 * @typedef {{ version: string, integrity?: string, optional?: boolean, os?: string[], cpu?: string[],
 *   libc?: string[] }} Package of a lockfile
 */

const INSTALL_STAMP = join(ROOT, 'node_modules/.switchhook-install');
const INSTALLED = join(ROOT, 'node_modules/.package-lock.json');
/** The workspace with the packages that only tests and checks need, as the lockfile names it. */
const CHECKS = 'node_modules/switchhook-checks';
const BUILD_STAMP = join(ROOT, 'dist/.built');
const BUILT = 'dist/apps/cli/src/main.js';
const BUILT_FROM = [
  ...['apps', 'libs', 'docs/receiving.md', 'docs/receiving'],
  ...['package.json', 'tsconfig.json'],
];

/**
 * Installs the packages and builds, each only where it is missing or out of date. Any number of
 * these at the same time in one clone do it once. All output goes to stderr. A production installation
 * (`NODE_ENV`) is left as it is.
 * @template Result
 * @param {object} [options]
 * @param {boolean} [options.withChecks] installs what tests and checks need, too
 * @param {boolean} [options.withBuild] if false, builds nothing
 * @param {() => Promise<Result | undefined>} [options.whenInstalled] needs the packages alone, and runs beside the build
 * @returns {Promise<Result | undefined>} what `whenInstalled` resolves with
 */
export async function prepare({
  withChecks = false,
  withBuild = true,
  whenInstalled = () => Promise.resolve(undefined),
} = {}) {
  if (process.env.NODE_ENV === 'production') {
    requireBuild('NODE_ENV is production', ', or unset NODE_ENV');
    return whenInstalled();
  }
  const needsBuild = () => withBuild && !isBuilt();
  const isReady = () => isInstalled(withChecks) && isLinked() && !needsBuild();
  if (isReady()) return whenInstalled();

  mkdirSync(join(ROOT, 'dist'), { recursive: true });
  // In dist, because that is not in git and `npm ci` does not remove it.
  const lock = await takeLock(join(ROOT, 'dist/.prepare.lock'), ({ pid }, isFirst) => {
    if (isFirst) console.error(`waiting for process ${pid}, which installs or builds here …`);
  });
  try {
    // The last owner of the lock may have done it all.
    if (!isInstalled(withChecks)) await install(withChecks, lock);
    if (!isLinked()) link();
    const [result] = await Promise.all([whenInstalled(), needsBuild() ? build(lock) : undefined]);
    return result;
  } finally {
    lock.release();
  }
}

/**
 * Whether somebody has removed the development packages, for processes that may be running now
 * (docs/operating/install.md). To install or build again would take away what these have yet to load.
 */
export function isProductionInstallation() {
  const list = readText(INSTALLED);
  if (list === undefined) return false;
  /** @type {{ packages: Record<string, { dev?: boolean }> }} */
  const { packages } = JSON.parse(list);
  return !Object.values(packages).some(({ dev }) => dev);
}

/**
 * @param {string} why nothing is installed or built
 * @param {string} [otherwise] what else helps
 * @throws Problem when the command line has not been built
 */
export function requireBuild(why, otherwise = '') {
  if (existsSync(join(ROOT, BUILT))) return;
  throw new Problem(
    `${why}, so nothing is installed or built here: run "npm ci --include=dev" and "npm run build"${otherwise}.`,
  );
}

/** @param {boolean} withChecks @param {Lock} lock */
async function install(withChecks, lock) {
  // Gone first, so that an install that is cut short leaves nothing that looks complete.
  rmSync(INSTALL_STAMP, { force: true });
  // Whatever npm was told to omit: the build tools are development packages.
  const wanted = ['--include=dev', '--include=optional'];
  const quiet = ['--no-audit', '--no-fund', '--loglevel=error'];
  const args = ['ci', ...(withChecks ? [] : ['--workspaces=false']), ...wanted, ...quiet];
  await progress('installing the packages (npm ci)', () =>
    npm(args, lock, 'the packages could not be installed'),
  );
  writeFileSync(INSTALL_STAMP, installMark());
}

/** @param {Lock} lock */
async function build(lock) {
  const mark = buildMark();
  rmSync(BUILD_STAMP, { force: true });
  await progress('building', () => npm(['run', '--silent', 'build'], lock, 'the build failed'));
  writeFileSync(BUILD_STAMP, mark);
}

/** @param {string[]} args @param {Lock} lock @param {string} failure */
async function npm(args, lock, failure) {
  const path = process.env.npm_execpath ?? '';
  const isScript = basename(path).startsWith('npm-cli');
  const [command, all] = isScript ? [process.execPath, [path, ...args]] : ['npm', args];
  const { code } = await runTask(command, all, { cwd: ROOT, onStart: lock.add });
  if (code !== 0) {
    throw new Problem(`${failure}: "npm ${args.join(' ')}" exited with code ${code}.`);
  }
}

/** What is wanted and what npm says is there: either may have changed since we installed. */
function installMark() {
  const lists = [join(ROOT, 'package-lock.json'), INSTALLED];
  return hash(lists.map((file) => readText(file) ?? ''));
}

/** @param {boolean} withChecks */
function isInstalled(withChecks) {
  if (!existsSync(INSTALLED)) return false;
  if (withChecks && !(CHECKS in packagesIn(INSTALLED))) return false;
  const mark = installMark();
  if (readText(INSTALL_STAMP) === mark) return true;
  // Not by us; but a plain `npm ci` is as good, and its packages may be all there are offline.
  if (!hasEveryPackage()) return false;
  writeFileSync(INSTALL_STAMP, mark);
  return true;
}

/** @param {string} file a lockfile */
function packagesIn(file) {
  /** @type {{ packages: Record<string, Package> }} */
  const { packages } = JSON.parse(readFileSync(file, 'utf8'));
  return packages;
}

function hasEveryPackage() {
  const there = packagesIn(INSTALLED);
  return Object.entries(packagesIn(join(ROOT, 'package-lock.json'))).every(([path, wanted]) => {
    if (path === '') return true;
    const found = there[path];
    if (found) return found.version === wanted.version && found.integrity === wanted.integrity;
    return wanted.optional === true && !isForThisMachine(wanted);
  });
}

/**
 * Only packages that name their machines can be missed: the others come and go with those.
 * @param {Package} wanted
 */
function isForThisMachine({ os, cpu, libc }) {
  if (!os?.includes(process.platform) || !cpu?.includes(process.arch)) return false;
  return !libc || libc.includes(existsSync('/etc/alpine-release') ? 'musl' : 'glibc');
}

/** Whether PostgreSQL's libraries have their short names, which an install script gives them. */
function isLinked() {
  return POSTGRES_VERSIONS.every((version) => {
    const list = readText(join(ROOT, version, 'native/pg-symlinks.json'));
    /** @type {{ target: string }[]} */
    const links = JSON.parse(list ?? '[]');
    return links.every(({ target }) => existsSync(join(ROOT, version, target)));
  });
}

/** Without install scripts (`ignore-scripts`, newer npm) the links are not there. */
function link() {
  // The script looks for its files in the working directory, and does nothing in any other.
  for (const version of POSTGRES_VERSIONS) {
    spawnSync(process.execPath, ['scripts/hydrate-symlinks.js'], { cwd: join(ROOT, version) });
  }
  if (isLinked()) return;
  throw new Problem('cannot make the symbolic links of the libraries of the embedded PostgreSQL.');
}

/** By content, not by time: a deleted file counts, a checkout that changes nothing does not. */
function buildMark() {
  const files = BUILT_FROM.flatMap((path) => listFiles(path)).sort();
  return hash(files.flatMap((file) => [file, readText(join(ROOT, file)) ?? '']));
}

function isBuilt() {
  return readText(BUILD_STAMP) === buildMark();
}

/** @param {string} path @returns {string[]} */
function listFiles(path) {
  if (/\.(json|md)$/.test(path)) return [path];
  return readdirSync(join(ROOT, path), { withFileTypes: true }).flatMap((entry) => {
    const inner = `${path}/${entry.name}`;
    if (entry.isDirectory()) return listFiles(inner);
    return inner.endsWith('spec.ts') ? [] : [inner];
  });
}

/** @param {string[]} texts */
function hash(texts) {
  const sum = createHash('sha256');
  for (const text of texts) sum.update(text).update('\0');
  return sum.digest('hex');
}
