import { report } from './problem.mjs';
import { isAlive, npmAboveUs } from './processes.mjs';

const WATCH_MS = 250;

/**
 * Makes a program end in one place and once, whatever the reason: a signal (npm passes on the
 * one that the terminal has already sent us, so the second means nothing), an error, or its end.
 * @param {() => Promise<void>} cleanUp
 * @param {number} signalCode the exit code after a signal
 * @returns {{ stop: (code: number) => Promise<void>, fail: (error: unknown) => Promise<void>,
 *   isStopping: () => boolean }}
 */
export function stopping(cleanUp, signalCode) {
  /** @type {Promise<void> | undefined} */
  let stopped;
  /** @param {number} code */
  const stop = (code) =>
    (stopped ??= cleanUp()
      .catch((/** @type {unknown} */ error) => {
        report(error);
        code ||= 1;
      })
      .finally(() => process.exit(code)));

  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'])
    process.on(signal, () => void stop(signalCode));
  /** @param {unknown} error */
  const fail = (error) => {
    // What fails because it is being stopped has failed for the reason that is known.
    if (!stopped) report(error);
    return stop(1);
  };
  process.on('uncaughtException', (error) => void fail(error));
  // Ended by a signal, npm's shell does not pass it on; ended by SIGKILL, npm itself does not.
  const above = npmAboveUs();
  const watch = setInterval(() => above.every(isAlive) || void stop(signalCode), WATCH_MS);
  watch.unref();
  // Whoever reads our output may be gone before we are.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);
  return { stop, fail, isStopping: () => stopped !== undefined };
}
