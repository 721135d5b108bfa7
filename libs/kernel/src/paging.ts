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
export const MAX_SCANNED_ROWS = 10_000;

/** A row that a statement has read. */
export interface ScannedRow {
  id: string;
  /** From 1. */
  rowNumber: number;
  /** Whether the row matches the filter. A row that does not is returned only as the last one read. */
  matches: boolean;
}

/**
 * Finds the rows of a page with statements that read at most {@link MAX_SCANNED_ROWS} rows each.
 * @param parts of the table, in the order of the list; each takes one statement
 */
export async function scanPage<Part, Row extends ScannedRow>(
  limit: number,
  parts: AsyncIterable<Part> | Iterable<Part>,
  scan: (part: Part, limit: number) => Promise<Row[]>,
): Promise<Found<Row>> {
  const rows: Row[] = [];
  for await (const part of parts) {
    const scanned = await scan(part, limit - rows.length);
    rows.push(...scanned.filter(({ matches }) => matches));
    const last = scanned.at(-1);
    if (rows.length >= limit) break;
    if (last?.rowNumber === MAX_SCANNED_ROWS) return { rows, stoppedAt: last.id };
  }
  return { rows };
}
