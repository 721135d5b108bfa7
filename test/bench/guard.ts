import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '#tools/settings';
import type { Result } from './harness/report.js';

/** What the guard measures: short, and steady from run to run. */
export const GUARDED = ['single', 'batch', 'worker-alone', 'applications'];

const RECORD = join(ROOT, 'test/bench/guard.json');
/** A ratio may lose so much of what was recorded. */
const TOLERANCE = 0.25;

/** Writes the ratios down, to be compared with by later runs. */
export function record(results: readonly Result[]): void {
  const ratios = Object.fromEntries(ratiosOf(results).map(({ what, median }) => [what, median]));
  writeFileSync(RECORD, `${JSON.stringify(ratios, undefined, 2)}\n`);
}

/** @returns a sentence for each ratio that is worse by more than a quarter than what was recorded */
export function losses(results: readonly Result[]): string[] {
  const recorded = JSON.parse(readFileSync(RECORD, 'utf8')) as Record<string, number>;
  const measured = new Map(ratiosOf(results).map(({ what, median }) => [what, median]));
  return Object.entries(recorded).flatMap(([what, before]) => {
    const now = measured.get(what);
    if (now !== undefined && now >= before * (1 - TOLERANCE)) return [];
    return [`${what}: ${now?.toFixed(3) ?? 'not measured'}, and it was ${before.toFixed(3)}`];
  });
}

/** Ratios of which more is better, and which something depends on. */
function ratiosOf(results: readonly Result[]): Result[] {
  return results.filter(({ unit, bound }) => unit === '' && bound && 'atLeast' in bound);
}
