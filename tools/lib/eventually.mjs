import { setTimeout as sleep } from 'node:timers/promises';
import { inspect } from 'node:util';

const LONGEST_TEXT = 2_000;

/**
 * Reads until the value is as wanted, and returns it.
 * @template Value
 * @param {() => Value | Promise<Value>} read
 * @param {(value: Value) => unknown} [wanted] by default any truthy value
 * @param {{ ms?: number, everyMs?: number, what?: string }} [options] `what` describes the wait in the error; by
 * default, the code does
 * @returns {Promise<Value>}
 * @throws {Error} after `ms`, with the last value
 */
export async function eventually(read, wanted = Boolean, { ms = 30_000, everyMs = 20, what } = {}) {
  const deadline = performance.now() + ms;
  for (;;) {
    const value = await read();
    if (wanted(value)) return value;
    if (performance.now() > deadline) {
      const awaited = what ?? (wanted === Boolean ? read : wanted).toString();
      const seen = inspect(value, { breakLength: Infinity }).slice(0, LONGEST_TEXT);
      throw new Error(`not within ${ms / 1_000} s: ${awaited}; last seen: ${seen}`);
    }
    await sleep(everyMs);
  }
}
