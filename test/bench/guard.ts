import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '#tools/settings';
import type { Result } from './harness/report.js';

/** What the guard measures: the scenarios that have rows with a bound and are short. */
export const GUARDED = [
  'single',
  'batch',
  'worker-alone',
  'latency',
  'rates',
  'hanging',
  'applications',
  'one-subscription',
  'retry-storm',
  'cold-start',
];

/** Rows with a bound whose scenarios are too long for the guard: a whole run checks their bounds. */
const LEFT_TO_WHOLE_RUN = ['cost of a delivery, 10 million stored / 10 thousand'];

const RECORD = join(ROOT, 'test/bench/guard.json');
/** A row may be worse than recorded by this part. */
const TOLERANCE = 0.25;
/** Rows that vary more from round to round, from the ranges in docs/performance.md. */
const NOISY: readonly [what: RegExp, tolerance: number][] = [
  // Of one run, the worst round had 2.5 times the median (hanging: 0.549, up to 1.38).
  [/^p99/, 1.5],
];

/** By name of the row. */
type Recorded = Record<string, number>;

/** Writes down each row with a bound, to be compared with by later runs. */
export function record(results: readonly Result[]): void {
  const rows = guarded(results).map(({ what, median }) => [what, median]);
  writeFileSync(RECORD, `${JSON.stringify(Object.fromEntries(rows), undefined, 2)}\n`);
}

/** @returns a sentence for each row that is worse than recorded by more than it varies, or has no counterpart */
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
      // A row without a value is a loss, too.
      if (lossOf(row, before) <= toleranceOf(row.what)) return [];
      return [`${row.what}: ${row.median.toFixed(3)}, and it was ${before.toFixed(3)}`];
    }),
  ];
}

/** @returns a sentence for each row with a bound that no guard would ever see */
export function unguarded(results: readonly Result[]): string[] {
  return bounded(results)
    .filter(
      ({ scenario, what }) => !GUARDED.includes(scenario) && !LEFT_TO_WHOLE_RUN.includes(what),
    )
    .map(({ what }) => `${what}: has a bound, but guard.ts does not know it`);
}

/** The part by which a row is worse than before. */
function lossOf({ median, bound }: Result, before: number): number {
  const change = median / before - 1;
  return bound && 'atLeast' in bound ? -change : change;
}

function toleranceOf(what: string): number {
  return NOISY.find(([rows]) => rows.test(what))?.[1] ?? TOLERANCE;
}

/** Of a whole run, the rows that the guard measures as well. */
function guarded(results: readonly Result[]): Result[] {
  return bounded(results).filter(({ what }) => !LEFT_TO_WHOLE_RUN.includes(what));
}

function bounded(results: readonly Result[]): Result[] {
  return results.filter(({ bound }) => bound);
}
