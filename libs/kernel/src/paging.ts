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

/** Bytes of the events' data that one statement of a list reads at most. */
export const MAX_SCANNED_BYTES = 16 << 20;

/** Bytes of them that one statement returns at most, about. */
export const MAX_RETURNED_BYTES = 1 << 20;

/** A row that a statement has read. */
export interface ScannedRow {
  id: string;
  /** Whether the row matches the filter. A row that does not is returned only as the last one read. */
  matches: boolean;
  /** Whether the statement stopped after this row, because it may read no more. */
  isLast: boolean;
}

/**
 * Finds the rows of a page with statements that read at most {@link MAX_SCANNED_ROWS} rows each.
 * @param parts of the table, in the order of the list; each takes one statement
 * @param isFound judges a row that matches. If it refuses one, the page ends with its statement.
 */
export async function scanPage<Part, Row extends ScannedRow>(
  limit: number,
  parts: AsyncIterable<Part> | Iterable<Part>,
  scan: (part: Part, limit: number) => Promise<Row[]>,
  isFound: (row: Row) => boolean = () => true,
): Promise<Found<Row>> {
  const rows: Row[] = [];
  for await (const part of parts) {
    const wanted = limit - rows.length;
    const scanned = await scan(part, wanted);
    rows.push(...scanned.filter((row) => row.matches && isFound(row)));
    const last = scanned.at(-1);
    if (rows.length >= limit) break;
    // Behind as many rows as were wanted, there may be more.
    if (last && (last.isLast || scanned.length >= wanted)) return { rows, stoppedAt: last.id };
  }
  return { rows };
}
