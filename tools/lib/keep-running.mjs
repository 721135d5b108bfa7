import { setTimeout as sleep } from 'node:timers/promises';
import { report } from './problem.mjs';

const DELAYS = { firstMs: 1_000, longestMs: 60_000 };

/**
 * Restarts a program whenever it ends, after a delay that doubles each time. The delay is reset once the program has
 * run longer than the longest delay.
 * @param {import('./programs.mjs').Program} program
 * @param {() => Promise<import('./programs.mjs').Program>} startAgain resolves when it is ready
 * @param {() => boolean} isStopping
 * @param {typeof DELAYS} [delays]
 */
export async function keepRunning(program, startAgain, isStopping, delays = DELAYS) {
  const { name } = program;
  /** @type {import('./programs.mjs').Program | undefined} */
  let running = program;
  let delay = delays.firstMs;
  for (;;) {
    if (running) {
      const since = Date.now();
      const how = await running.exited;
      if (isStopping()) return;
      if (Date.now() - since > delays.longestMs) delay = delays.firstMs;
      report(running.failure(how));
    }
    console.error(`switchhook: starting ${name} again in ${delay / 1_000} s …`);
    await sleep(delay);
    if (isStopping()) return;
    delay = Math.min(2 * delay, delays.longestMs);
    try {
      running = await startAgain();
      console.error(`switchhook: ${name} runs again.`);
    } catch (error) {
      if (isStopping()) return;
      running = undefined;
      report(error);
    }
  }
}
