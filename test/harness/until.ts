import { setTimeout as sleep } from 'node:timers/promises';

const LOOK_AGAIN_MS = 10;

/** Waits until it is so. @throws Error that says what is not, after `ms` */
export async function until(
  what: string,
  isSo: () => Promise<boolean> | boolean,
  ms = 30_000,
): Promise<void> {
  const deadline = Date.now() + ms;
  while (!(await isSo())) {
    if (Date.now() > deadline) throw new Error(`not within ${String(ms / 1_000)} s: ${what}`);
    await sleep(LOOK_AGAIN_MS);
  }
}
