import { setPriority } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';
import type { Program } from '#tools/programs';
import type { Client } from './http.js';

/** The memory bound of a process under attack, in MB: half of its container. */
export const MOST_MB = 256;

/** `npm run test:hostile` sets this, because it runs alone on the machine. */
const SECONDS = Number(process.env.HOSTILE_SECONDS ?? 0);

/**
 * The duration of an attack, and how many times longer another account's calls may take meanwhile. There is no such
 * limit in `npm test`, which runs other tests at the same time.
 * @param ms the duration in `npm test`
 */
export function hostileFor(ms: number): { ms: number; mostTimes: number } {
  return SECONDS > 0 ? { ms: SECONDS * 1_000, mostTimes: 3 } : { ms, mostTimes: Infinity };
}

/** The 99th percentile. */
export function p99(took: readonly number[]): number {
  return [...took].sort((one, other) => one - other)[Math.floor(took.length * 0.99)] ?? NaN;
}

/**
 * Reads a resource of an account repeatedly, each time on a new connection; every read must succeed. @returns the
 * durations in ms
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

/** Attackers have their own machines: their computations must not slow the service here. */
export function lowPriority({ pid }: Program): void {
  setPriority(pid, 10);
}
