// Runs commands one after the other, each by loading apps/cli/src/main.ts again, but nothing that it imports.
import { Readable } from 'node:stream';
import { pathToFileURL } from 'node:url';

/** @typedef {{ args: string[], env: Record<string, string>, input: string }} Command `input` in Base64 */

const [, , program = ''] = process.argv;
let last = Promise.resolve();
let runs = 0;

process.on('message', (/** @type {Command} */ command) => {
  last = last.then(() => run(command)).then((ending) => void process.send?.(ending));
});
process.on('disconnect', () => process.exit());

/** @param {Command} command */
async function run({ args, env, input }) {
  const printed = { stdout: '', stderr: '' };
  for (const name of /** @type {const} */ (['stdout', 'stderr'])) {
    process[name].write = (/** @type {string | Uint8Array} */ chunk) => {
      printed[name] += typeof chunk === 'string' ? chunk : Buffer.from(chunk).toString('utf8');
      return true;
    };
    // What it inherits may be a terminal.
    process[name].isTTY = false;
  }
  for (const name of Object.keys(process.env)) Reflect.deleteProperty(process.env, name);
  Object.assign(process.env, env);
  const stdin = Readable.from([Buffer.from(input, 'base64')]);
  Object.defineProperty(process, 'stdin', { value: stdin, configurable: true });
  process.argv.splice(1, process.argv.length, program, ...args);
  process.exitCode = 0;
  await import(`${pathToFileURL(program).href}?${(runs += 1)}`);
  process.stdout.removeAllListeners('error');
  for (const signal of ['SIGINT', 'SIGTERM']) process.removeAllListeners(signal);
  return { code: process.exitCode, ...printed };
}
