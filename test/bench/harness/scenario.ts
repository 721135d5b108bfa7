import type { Site } from './site.js';

/** What of a row must hold. */
export type Bound = { atLeast: number } | { atMost: number };

/** Something that was measured, once in each round. */
export interface Row {
  what: string;
  values: readonly number[];
  /** Empty: a ratio. */
  unit: string;
  bound?: Bound;
  /** For pictures and JSON: the table leaves it out. */
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
  /** Only when it is asked for. */
  isLong?: true;
  /** Of PostgreSQL, on top of those of all. */
  settings?: Record<string, string>;
  run: (site: Site, effort: Effort) => Promise<Row[]>;
}

/**
 * Measures by turns, so that what else the machine does meets all alike; the first turn, which warms
 * up, counts for nothing. @returns what each measured in each round
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
    }
  }
  return results as Record<Name, Measured[]>;
}

/** Round by round. */
export function ratios(of: readonly number[], to: readonly number[]): number[] {
  return of.map((value, round) => value / to[round]!);
}
