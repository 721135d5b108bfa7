/** One page of a list in keyset order. */
export interface Page {
  /** The last id of the previous page; absent on the first page. */
  after?: string;
  /** The maximum number of rows. */
  limit: number;
}

/** The rows found for a page. */
export interface Found<Row> {
  rows: Row[];
  /** The last id read, if the search stopped at its row limit before it had found enough. */
  stoppedAt?: string;
}

/** Rows that one statement of a list reads at most. This bounds the cost of a filter. */
export const LOOKED_AT = 10_000;

/** A row that a statement has read. */
export interface LookedAt {
  id: string;
  /** The row's number, from 1. */
  place: number;
  /** Whether the row matches the filter. A row that does not is returned only as the last one read. */
  matches: boolean;
}

/**
 * Finds the rows of a page with statements that read at most {@link LOOKED_AT} rows each.
 * @param parts of the table, in the order of the list; each takes one statement
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
