import { fileURLToPath } from 'node:url';
import { lowPriority } from './hostility.js';
import { programs } from './processes.js';

const FLOOD = fileURLToPath(new URL('flood.mjs', import.meta.url));

/** What is sent on each of so many connections. */
export interface Send {
  connections: number;
  /** `{login}` stands for credentials that nobody has. */
  bytes: string;
  /** Whether it reads what comes; by default it does not. */
  reads?: boolean;
  /** Leaves at a random moment within this time after it has sent everything; by default it stays. */
  leavesWithinMs?: number;
}

/** Floods a server, from a process of its own, while something is done. */
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
