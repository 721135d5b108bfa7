import { spawn } from 'node:child_process';
import { codeOf, identify } from './processes.mjs';
import { Problem } from './problem.mjs';

/** @typedef {{ code: number, output: string }} Result `output` only if uninterrupted */

/**
 * The running programs of the preparation.
 * @type {Set<{ child: import('node:child_process').ChildProcess, uninterrupted: boolean,
 *   ended: Promise<Result> }>}
 */
const running = new Set();

/**
 * Runs a program of the preparation, with its output on our stderr.
 * @param {string} command
 * @param {string[]} args
 * @param {import('node:child_process').SpawnOptions & { uninterrupted?: boolean,
 *   onStart?: (identity: import('./processes.mjs').Identity | undefined) => void }} options
 *   `uninterrupted`: a stop waits for it instead of ending it, and Ctrl-C does not reach it
 * @returns {Promise<Result>}
 */
export async function runTask(command, args, { uninterrupted = false, onStart, ...options } = {}) {
  const to = uninterrupted ? 'pipe' : 2;
  const stdio = /** @type {const} */ (['ignore', to, to]);
  const child = spawn(command, args, { ...options, detached: uninterrupted, stdio: [...stdio] });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (/** @type {string} */ text) => (output += text));
  }
  /** @type {Promise<Result>} */
  const ended = new Promise((resolve, reject) => {
    child.on('error', (error) => reject(new Problem(`cannot run ${command} (${codeOf(error)}).`)));
    child.on('close', (code) => resolve({ code: code ?? 1, output }));
  });
  const task = { child, uninterrupted, ended };
  running.add(task);
  if (child.pid) onStart?.(identify(child.pid));
  return ended.finally(() => running.delete(task));
}

/** Ends the programs of {@link runTask}, or waits for those that must not be interrupted. */
export async function endTasks() {
  const tasks = [...running];
  for (const { child, uninterrupted } of tasks) if (!uninterrupted) child.kill('SIGTERM');
  await Promise.allSettled(tasks.map(({ ended }) => ended));
}
