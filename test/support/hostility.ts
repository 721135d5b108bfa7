import { setPriority } from 'node:os';
import type { Program } from '#tools/programs';

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

/** Whoever does harm has a machine of its own: what it computes must not slow us down. */
export function lowPriority({ pid }: Program): void {
  setPriority(pid, 10);
}
