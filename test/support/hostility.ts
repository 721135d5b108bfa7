import { setPriority } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';
import type { Program } from '#tools/programs';
import type { Client } from './http.js';

/** The memory bound of a process under attack, in MB: half of its container. */
export const MOST_MB = 256;

/** The duration of an attack, which `npm run test:hostile` sets. */
export const ATTACK_MS = Number(process.env.HOSTILE_SECONDS) * 1_000;

/** How many times longer another account's calls may take during an attack. */
export const MOST_TIMES = 3;

/** The longest time for which the event loop may stand still, in ms. */
export const MOST_HELD_MS = 5;

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
