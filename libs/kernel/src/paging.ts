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
  /** Whether the statement stopped after this row, because it has reached its limit. */
  isLast: boolean;
}

/** Rows that a statement reads at most if they are judged outside it: reading more would hold the event loop for long. */
export const MAX_JUDGED_ROWS = 100;

/** A row that is judged outside the statement. */
export interface JudgedRow extends ScannedRow {
  /** How many rows the statement has read up to this one. */
  number: number;
  /** What it is judged by, if that is needed. */
  data?: string | null;
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
    const wanted = limit - rows.length;
    const scanned = await scan(part, wanted);
    rows.push(...scanned.filter((row) => row.matches));
    const last = scanned.at(-1);
    if (rows.length >= limit) break;
    // Behind as many rows as were wanted, there may be more.
    if (last && (last.isLast || scanned.length >= wanted)) return { rows, stoppedAt: last.id };
  }
  return { rows };
}

/**
 * Like {@link scanPage}, if rows are also judged outside the statements, which read at most {@link MAX_JUDGED_ROWS} each. The
 * page ends by what it reads, {@link MAX_SCANNED_ROWS} or {@link MAX_SCANNED_BYTES}, and not by what is refused.
 * @param scan reads the rows of a part after the one with this id
 * @param judge returns the part of a row to keep; undefined to drop the row
 */
export async function scanJudged<
  Part,
  Row extends JudgedRow,
  Kept extends { id: string; data?: string | null },
>(
  page: Page,
  parts: AsyncIterable<Part> | Iterable<Part>,
  scan: (part: Part, page: Page) => Promise<Row[]>,
  judge: (row: Row) => Promise<Kept | undefined>,
): Promise<Found<Kept>> {
  const rows: Kept[] = [];
  let { after } = page;
  let [read, judged, characters] = [0, 0, 0];
  for await (const part of parts) {
    for (let limit = page.limit - rows.length; ; limit = MAX_JUDGED_ROWS) {
      const scanned = await scan(part, { limit, ...(after !== undefined && { after }) });
      for (const row of scanned) {
        judged += row.data?.length ?? 0;
        const kept = row.matches ? await judge(row) : undefined;
        if (kept === undefined) continue;
        rows.push(kept);
        if (rows.length >= page.limit) return { rows };
        characters += kept.data?.length ?? 0;
        if (characters >= MAX_RETURNED_BYTES) return { rows, stoppedAt: row.id };
      }
      const last = scanned.at(-1);
      if (!last || !(last.isLast || scanned.length >= limit)) break;
      read += last.number;
      if (read >= MAX_SCANNED_ROWS || judged >= MAX_SCANNED_BYTES) {
        return { rows, stoppedAt: last.id };
      }
      after = last.id;
    }
  }
  return { rows };
}
