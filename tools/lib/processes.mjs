import { execFileSync } from 'node:child_process';
import { readFileSync, readlinkSync } from 'node:fs';
import { basename } from 'node:path';
import { eventually } from './eventually.mjs';

/**
 * Identifies a process uniquely: ids are reused, but not together with the start time.
 * @typedef {{ pid: number, startTime: string }} Identity
 */

/** Start times in /proc count from the boot, so they are valid within one boot only. */
const boot = readText('/proc/sys/kernel/random/boot_id')?.trim();

/** The system's code of an error. @param {unknown} error @returns {string | undefined} */
export function codeOf(error) {
  return /** @type {NodeJS.ErrnoException} */ (error).code;
}

/** The text of a file, or undefined if it cannot be read. @param {string} file */
export function readText(file) {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}

/**
 * The process that has this id now.
 * @param {number} pid
 * @returns {Identity | undefined} undefined if there is none; zombies do not count
 */
export function identify(pid) {
  const startTime = boot === undefined ? startTimeByPs(pid) : startTimeByProc(pid);
  return startTime === undefined ? undefined : { pid, startTime };
}

/** @param {number} pid */
function startTimeByProc(pid) {
  const { state, started } = status(pid);
  return !state || state === 'Z' || state === 'X' ? undefined : `${boot}/${started}`;
}

/** @param {number} pid */
function status(pid) {
  const stat = readText(`/proc/${pid}/stat`) ?? '';
  // The second field is the program's name in parentheses, which may contain any character.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return { state: fields[0], parent: Number(fields[1]), started: fields[19] };
}

/**
 * For systems without /proc, where everything runs but the embedded PostgreSQL.
 * @param {number} pid
 */
function startTimeByPs(pid) {
  try {
    const args = ['-o', 'lstart=', '-p', String(pid)];
    const stdio = /** @type {const} */ (['ignore', 'pipe', 'ignore']);
    return execFileSync('ps', args, { encoding: 'utf8', stdio: [...stdio] }).trim() || undefined;
  } catch {
    return undefined;
  }
}

/** Whether this process still runs. @param {Identity} identity */
export function isAlive(identity) {
  return identify(identity.pid)?.startTime === identity.startTime;
}

/**
 * The npm that runs us as a script, and the shell in between, if any: a signal may end either without reaching us.
 * Empty unless npm started us.
 * @returns {Identity[]}
 */
export function npmAboveUs() {
  const { npm_lifecycle_script: script = '' } = process.env;
  if (boot === undefined || !script.endsWith(basename(process.argv[1] ?? ''))) return [];
  const above = runsNode(process.ppid)
    ? [process.ppid]
    : [process.ppid, status(process.ppid).parent];
  if (!runsNode(above.at(-1) ?? 0)) return [];
  return above.flatMap((pid) => identify(pid) ?? []);
}

/** @param {number} pid */
function runsNode(pid) {
  try {
    return readlinkSync(`/proc/${pid}/exe`) === readlinkSync('/proc/self/exe');
  } catch {
    return false;
  }
}

/**
 * Ends a process with a sequence of signals, each with its time in ms.
 * @param {Identity} identity
 * @param {Array<[NodeJS.Signals, number]>} steps
 */
export async function end(identity, steps) {
  for (const [signal, ms] of steps) {
    if (!isAlive(identity)) return;
    try {
      process.kill(identity.pid, signal);
    } catch (error) {
      if (codeOf(error) !== 'ESRCH') throw error;
    }
    if (await isSoWithin(ms, () => !isAlive(identity))) return;
  }
  throw new Error(`process ${identity.pid} does not end`);
}

/**
 * Sends a signal to a process group.
 * @param {number} leader
 * @param {NodeJS.Signals | 0} signal
 * @returns {boolean} whether it has members; the signal 0 only checks that
 */
export function signalGroup(leader, signal) {
  try {
    return process.kill(-leader, signal);
  } catch {
    return false;
  }
}

/**
 * Ends a process and its descendants, except those in other groups.
 * @param {number} leader of the group; may have ended just before
 * @param {number} ms for a clean end
 */
export async function endGroup(leader, ms) {
  signalGroup(leader, 'SIGTERM');
  await isSoWithin(ms, () => !signalGroup(leader, 0));
  signalGroup(leader, 'SIGKILL');
}

/** @param {number} ms @param {() => boolean} isSo */
function isSoWithin(ms, isSo) {
  return eventually(isSo, Boolean, { ms }).catch(() => false);
}
