import type { Site } from './site.js';
import { turns } from './turns.js';

/** A bound of a row. */
export type Bound = { atLeast: number } | { atMost: number };

/** A measured value, one for each round. */
export interface Row {
  what: string;
  values: readonly number[];
  /** Empty for a ratio. */
  unit: string;
  bound?: Bound;
  /** For pictures and JSON; the table omits it. */
  isDetail?: boolean;
}

/** How long to measure. */
export interface Effort {
  rounds: number;
  /** Of a single measurement. */
  seconds: number;
}

export interface Scenario {
  name: string;
  about: string;
  /** Only on request. */
  isLong?: true;
  /** Settings of PostgreSQL, in addition to the common ones. */
  settings?: Record<string, string>;
  run: (site: Site, effort: Effort) => Promise<Row[]>;
}

/**
 * Takes measurements alternately, also with another version that runs the same scenario, so that other activity of the
 * machine affects all alike. The first round warms up and does not count. @returns the results of each round
 */
export async function byTurns<Name extends string, Measured>(
  rounds: number,
  measurements: Record<Name, () => Promise<Measured>>,
): Promise<Record<Name, Measured[]>> {
  const entries = Object.entries(measurements) as [Name, () => Promise<Measured>][];
  const results = Object.fromEntries(entries.map(([name]) => [name, [] as Measured[]]));
  for (let round = 0; round <= rounds; round += 1) {
    for (const [name, measure] of entries) {
      const measured = await measure();
      if (round > 0) results[name]!.push(measured);
      await turns.pass();
    }
  }
  return results as Record<Name, Measured[]>;
}

/** Round by round. */
export function ratios(of: readonly number[], to: readonly number[]): number[] {
  return of.map((value, round) => value / to[round]!);
}
