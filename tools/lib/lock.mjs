import {
  closeSync,
  linkSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { Problem } from './problem.mjs';
import { codeOf, identify, isAlive, npmAboveUs, readText } from './processes.mjs';

/** The holder creates the file, then writes into it. If it stays empty for this long, the holder has died. */
const HALF_WRITTEN_MS = 2_000;
const POLL_MS = 200;

/**
 * A lock that ends with its holders: a file with their process ids and start times.
 * @typedef {import('./processes.mjs').Identity} Identity
 * @typedef {Identity & { above?: Identity[], leaving?: boolean }} Entry a holder in the file
 * @typedef {{ add: (holder: Identity | undefined) => void, leave: () => void, release: () => void }}
 *   Lock `leave` tells waiting processes that the lock will be free soon
 * @typedef {{ pid: number, isLeaving: boolean }} Holder
 */

/**
 * Takes the lock if it is free.
 * @param {string} file
 * @returns {{ lock: Lock, holder?: undefined } | { lock?: undefined, holder: Holder }} the lock, or its holder
 */
export function tryLock(file) {
  const own = { pid: process.pid, startTime: '', ...identify(process.pid), above: npmAboveUs() };
  for (;;) {
    try {
      const handle = openSync(file, 'wx', 0o600);
      writeSync(handle, JSON.stringify([own]));
      closeSync(handle);
      return { lock: lockOn(file, own) };
    } catch (error) {
      if (codeOf(error) !== 'EEXIST') throw error;
    }
    const text = readUnlessReleased(file);
    if (text === undefined) continue;
    const found = parse(text);
    if (found === undefined && age(file) < HALF_WRITTEN_MS) {
      return { holder: { pid: 0, isLeaving: true } };
    }
    const alive = found?.find(isAlive);
    if (alive) return { holder: { pid: alive.pid, isLeaving: isLeaving(alive) } };
    putAside(file, text);
  }
}

/**
 * Takes the lock, waiting while another process holds it.
 * @param {string} file
 * @param {(holder: Holder, isFirst: boolean) => void} onWait may throw instead of waiting
 * @returns {Promise<Lock>}
 */
export async function takeLock(file, onWait) {
  for (let isFirst = true; ; isFirst = false) {
    const { lock, holder } = tryLock(file);
    if (lock) return lock;
    onWait(holder, isFirst);
    await sleep(POLL_MS);
  }
}

/** A program ends once the npm above it is gone, see stopping(). @param {Entry} holder */
function isLeaving({ leaving, above = [] }) {
  return leaving === true || !above.every(isAlive);
}

/** @param {string} file @param {Entry} own @returns {Lock} */
function lockOn(file, own) {
  const holders = [own];
  const write = () => {
    writeFileSync(`${file}.new`, JSON.stringify(holders), { mode: 0o600 });
    renameSync(`${file}.new`, file);
  };
  return {
    // A child can outlive us, and must not do its work twice at the same time.
    add(holder) {
      if (holder) holders.push(holder);
      write();
    },
    leave() {
      own.leaving = true;
      write();
    },
    release() {
      rmSync(file, { force: true });
    },
  };
}

/**
 * Removes the lock of a dead holder. Another process may have done the same and hold the lock by now: if its file was
 * renamed instead, it is put back.
 * @param {string} file @param {string} text that was read in it
 */
function putAside(file, text) {
  const aside = `${file}.${process.pid}`;
  try {
    renameSync(file, aside);
    if (readText(aside) !== text) linkSync(aside, file);
  } catch (error) {
    if (!['ENOENT', 'EEXIST'].includes(codeOf(error) ?? '')) throw error;
  }
  rmSync(aside, { force: true });
}

/**
 * @param {string} file
 * @returns {string | undefined} undefined when it has just been released
 * @throws {Problem} when it exists but cannot be read, so that waiting would never end
 */
function readUnlessReleased(file) {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    const code = codeOf(error);
    if (code === 'ENOENT') return undefined;
    throw new Problem(`${file} cannot be read (${code}): remove it when nothing runs there.`);
  }
}

/** @param {Partial<Entry> | null} value @returns {value is Entry} */
const isEntry = (value) => Number.isInteger(value?.pid) && typeof value?.startTime === 'string';

/** @param {string} text @returns {Entry[] | undefined} */
function parse(text) {
  try {
    const holders = /** @type {unknown} */ (JSON.parse(text));
    return Array.isArray(holders) ? holders.filter(isEntry) : undefined;
  } catch {
    return undefined;
  }
}

/** @param {string} file */
function age(file) {
  const changed = statSync(file, { throwIfNoEntry: false })?.mtimeMs;
  return changed === undefined ? 0 : Date.now() - changed;
}
