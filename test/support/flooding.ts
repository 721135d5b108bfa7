import { fileURLToPath } from 'node:url';
import { lowPriority } from './hostility.js';
import { programs } from './processes.js';

const FLOOD = fileURLToPath(new URL('flood.mjs', import.meta.url));

/** What to send on each of these connections. */
export interface Send {
  connections: number;
  /** `{login}` is replaced by unknown credentials. */
  bytes: string;
  /** Whether it reads answers; by default it does not. */
  reads?: boolean;
  /** Closes at a random moment within this time after sending; by default it stays open. */
  leavesWithinMs?: number;
}

/** Floods a server from a separate process while an action runs. */
export async function flooded<Result>(
  url: string,
  sends: readonly Send[],
  work: () => Promise<Result>,
): Promise<Result> {
  const input = JSON.stringify({ port: Number(new URL(url).port), sends });
  const flood = programs.start('flood', process.execPath, [FLOOD], { input });
  lowPriority(flood);
  try {
    return await work();
  } finally {
    await flood.kill();
  }
}
