// `npm run check`: its parts side by side. What a part prints is shown when it ends, so that nothing is mixed up.
import { execFile } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { promisify } from 'node:util';
import { prepare } from './lib/prepare.mjs';

/** The longest first, so that no core is idle at the end. */
const PARTS = ['lint', 'types', 'format', 'layers'];

const waiting = PARTS.values();
const color = process.stdout.isTTY ? { FORCE_COLOR: '1' } : {};

/** @param {string} part */
async function check(part) {
  const start = Date.now();
  const end = (/** @type {string} */ how, /** @type {string} */ output) => {
    const seconds = Math.round((Date.now() - start) / 1_000);
    console.log(`${part}: ${how} (${seconds} s)\n${output}`.trimEnd());
  };
  try {
    const env = { ...process.env, ...color };
    await promisify(execFile)('npm', ['run', '-s', `check:${part}`], { env, maxBuffer: 2 ** 28 });
    end('passed', '');
  } catch (error) {
    const { stdout, stderr } = /** @type {{ stdout: string, stderr: string }} */ (error);
    end('FAILED', stdout + stderr);
    process.exitCode = 1;
  }
}

async function checkWaiting() {
  for (const part of waiting) await check(part);
}

await prepare({ withChecks: true, withBuild: false });
await Promise.all(Array.from({ length: Math.max(2, availableParallelism()) }, checkWaiting));
