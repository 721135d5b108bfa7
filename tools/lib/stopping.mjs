import { report } from './problem.mjs';
import { isAlive, npmAboveUs } from './processes.mjs';

const WATCH_MS = 1_000;

/**
 * Makes a program end once and in one place, on a signal, an error or its normal end. npm forwards the signal that the
 * terminal has already sent, so a second one is ignored.
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
    // Stopping causes further errors; the first reason is enough.
    if (!stopped) report(error);
    return stop(1);
  };
  process.on('uncaughtException', (error) => void fail(error));
  // npm's shell does not forward its signals, and npm cannot forward SIGKILL.
  const above = npmAboveUs();
  const watch = setInterval(() => above.every(isAlive) || void stop(signalCode), WATCH_MS);
  watch.unref();
  // The reader of our output may have ended before us.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);
  return { stop, fail, isStopping: () => stopped !== undefined };
}
