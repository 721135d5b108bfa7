import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { lowPriority } from './hostility.js';

const FLOOD = fileURLToPath(new URL('flood.mjs', import.meta.url));

/** What is sent on each of so many connections. */
export interface Send {
  connections: number;
  /** `{login}` stands for credentials that nobody has. */
  bytes: string;
  /** Whether it reads what comes; by default it does not. */
  reads?: boolean;
}

/** Floods a server, from a process of its own, while something is done. */
export async function flooded<Result>(
  url: string,
  sends: readonly Send[],
  work: () => Promise<Result>,
): Promise<Result> {
  const flood = spawn(process.execPath, [FLOOD], { stdio: ['pipe', 'ignore', 'inherit'] });
  lowPriority(flood);
  flood.stdin.end(JSON.stringify({ port: Number(new URL(url).port), sends }));
  const ended = once(flood, 'close');
  try {
    return await work();
  } finally {
    flood.kill('SIGKILL');
    await ended;
  }
}
