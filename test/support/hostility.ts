import { setPriority } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';
import type { Program } from '#tools/programs';
import type { Client } from './http.js';

/** What a process may take of memory, in MB, whatever is done to it: half of its container. */
export const MOST_MB = 256;

/** `npm run test:hostile` sets this: it has the machine to itself. */
const SECONDS = Number(process.env.HOSTILE_SECONDS ?? 0);

/**
 * For how long harm is done, and how many times as long another account may wait meanwhile; in
 * `npm test`, where other tests run beside, any number of times.
 * @param ms for how long in `npm test`
 */
export function hostileFor(ms: number): { ms: number; mostTimes: number } {
  return SECONDS > 0 ? { ms: SECONDS * 1_000, mostTimes: 3 } : { ms, mostTimes: Infinity };
}

/** What all but one in a hundred are within. */
export function p99(took: readonly number[]): number {
  return [...took].sort((one, other) => one - other)[Math.floor(took.length * 0.99)] ?? NaN;
}

/**
 * Reads something of an account again and again, each time on a new connection, which has to succeed.
 * @returns how long the calls took, in ms
 */
export async function callsOf(client: Client, path: string, ms: number): Promise<number[]> {
  const took: number[] = [];
  for (const end = performance.now() + ms; performance.now() < end;) {
    const start = performance.now();
    expect((await client.get(path)).status).toBe(200);
    took.push(performance.now() - start);
    await sleep(10);
  }
  return took;
}

/** Whoever does harm has a machine of its own: what it computes must not slow us down. */
export function lowPriority({ pid }: Program): void {
  setPriority(pid, 10);
}
