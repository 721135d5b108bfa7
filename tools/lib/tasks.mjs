import { spawn } from 'node:child_process';
import { identify } from './processes.mjs';
import { Problem } from './problem.mjs';

/** The programs that prepare something right now. */
const running = new Set();

/**
 * Runs a program of the preparation, its output on our stderr.
 * @param {{ uninterrupted?: boolean, onStart?: (identity: object) => void }} options
 *   `uninterrupted`: a stop waits for it instead of ending it, and Ctrl-C does not reach it
 * @returns {Promise<{ code: number, output: string }>} `output` only with `uninterrupted`
 */
export async function runTask(command, args, { uninterrupted = false, onStart, ...options } = {}) {
  const stdio = uninterrupted ? ['ignore', 'pipe', 'pipe'] : ['ignore', 2, 2];
  const child = spawn(command, args, { ...options, detached: uninterrupted, stdio });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (data) => (output += data));
  const task = { child, uninterrupted };
  task.ended = new Promise((resolve, reject) => {
    child.on('error', (error) => reject(new Problem(`cannot run ${command} (${error.code}).`)));
    child.on('close', (code) => resolve({ code: code ?? 1, output }));
  }).finally(() => running.delete(task));
  running.add(task);
  if (child.pid) onStart?.(identify(child.pid));
  return task.ended;
}

/** Ends what {@link runTask} runs, or waits for it where it must not be interrupted. */
export async function endTasks() {
  const tasks = [...running];
  for (const { child, uninterrupted } of tasks) if (!uninterrupted) child.kill('SIGTERM');
  await Promise.allSettled(tasks.map(({ ended }) => ended));
}
