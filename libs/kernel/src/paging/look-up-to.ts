import type { Found } from './page.js';

/** How many rows a statement of a list looks at: what a filter costs is bounded by that. */
export const LOOKED_AT = 10_000;

/** A row that was looked at. */
export interface LookedAt {
  id: string;
  /** Which one it is, from 1 on. */
  place: number;
  /** Whether the filter lets it pass; one that it does not is told of where the look ends. */
  matches: boolean;
}

/**
 * Finds the rows of a page by statements that look at {@link LOOKED_AT} rows each at the most.
 * @param parts of the table, in the order of the list, a statement for each
 */
export async function lookUpTo<Part, Row extends LookedAt>(
  limit: number,
  parts: AsyncIterable<Part> | Iterable<Part>,
  look: (part: Part, limit: number) => Promise<Row[]>,
): Promise<Found<Row>> {
  const rows: Row[] = [];
  for await (const part of parts) {
    const seen = await look(part, limit - rows.length);
    rows.push(...seen.filter(({ matches }) => matches));
    const last = seen.at(-1);
    if (rows.length >= limit) break;
    if (last?.place === LOOKED_AT) return { rows, stoppedAt: last.id };
  }
  return { rows };
}
