import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '#tools/settings';
import type { Result } from './harness/report.js';

/** The guard's scenarios: the short ones that have rows with a bound. */
export const GUARDED = [
  'single',
  'batch',
  'worker-alone',
  'latency',
  'rates',
  'feed',
  'hanging',
  'applications',
  'one-subscription',
  'retry-storm',
  'cold-start',
];

/** Rows with a bound whose scenarios are too long for the guard: whole runs check them. */
const LEFT_TO_WHOLE_RUN = [
  'cost of a delivery, 10 million stored / 10 thousand',
  'rate, four of each / one, 64 at once',
  'rate, four of each / one, 256 at once',
  'CPU for an event at 300 a second, four of each / one',
];

const RECORD = join(ROOT, 'test/bench/guard.json');
/** A row may be worse than its record by this share. */
const TOLERANCE = 0.25;
/** Rows that vary more between rounds, by the ranges in docs/performance.md. */
const NOISY: readonly [what: RegExp, tolerance: number][] = [
  // In one run, the worst round was 2.5 times the median (hanging: 0.549, up to 1.38).
  [/^p99/, 1.5],
];

/** By the name of the row. */
type Recorded = Record<string, number>;

/** Records each row with a bound, for comparison with later runs. */
export function record(results: readonly Result[]): void {
  const rows = guarded(results).map(({ what, median }) => [what, median]);
  writeFileSync(RECORD, `${JSON.stringify(Object.fromEntries(rows), undefined, 2)}\n`);
}

/** @returns a sentence for each row that is worse than its record by more than its variation, or has no counterpart */
export function losses(
  results: readonly Result[],
  recorded = JSON.parse(readFileSync(RECORD, 'utf8')) as Recorded,
): string[] {
  const rows = guarded(results);
  const measured = new Set(rows.map(({ what }) => what));
  const missing = Object.keys(recorded).filter((what) => !measured.has(what));
  return [
    ...missing.map((what) => `${what}: not measured`),
    ...rows.flatMap((row) => {
      const before = recorded[row.what];
      if (before === undefined) return [`${row.what}: not recorded; --record does it`];
      // A missing value counts as worse.
      if (lossOf(row, before) <= toleranceOf(row.what)) return [];
      return [`${row.what}: ${row.median.toFixed(3)}, and it was ${before.toFixed(3)}`];
    }),
  ];
}

/** @returns a sentence for each row with a bound that no guard checks */
export function unguarded(results: readonly Result[]): string[] {
  return bounded(results)
    .filter(
      ({ scenario, what }) => !GUARDED.includes(scenario) && !LEFT_TO_WHOLE_RUN.includes(what),
    )
    .map(({ what }) => `${what}: has a bound, but guard.ts does not know it`);
}

/** The share by which a row is worse than before. */
function lossOf({ median, bound }: Result, before: number): number {
  const change = median / before - 1;
  return bound && 'atLeast' in bound ? -change : change;
}

function toleranceOf(what: string): number {
  return NOISY.find(([rows]) => rows.test(what))?.[1] ?? TOLERANCE;
}

/** The rows of a whole run that the guard also measures. */
function guarded(results: readonly Result[]): Result[] {
  return bounded(results).filter(({ what }) => !LEFT_TO_WHOLE_RUN.includes(what));
}

function bounded(results: readonly Result[]): Result[] {
  return results.filter(({ bound }) => bound);
}
