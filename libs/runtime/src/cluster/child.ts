import cluster from 'node:cluster';
import { TERMINAL_SIGNALS } from './signals.js';

/** What a child sends to its primary once it works. */
export const READY = 'ready';

/** Runs a service as one of several processes. It stops in order if it loses its primary. */
export async function runChild(load: () => Promise<unknown>): Promise<void> {
  for (const signal of TERMINAL_SIGNALS) process.on(signal, () => undefined);
  // Otherwise Node would exit as soon as the primary is gone.
  if (cluster.worker) cluster.worker.exitedAfterDisconnect = true;
  process.once('disconnect', () => process.kill(process.pid, 'SIGTERM'));
  await load();
  process.send?.(READY);
}
