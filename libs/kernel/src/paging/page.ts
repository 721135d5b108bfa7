/** One page of a list in keyset order. */
export interface Page {
  /** The last id of the page before; absent on the first page. */
  after?: string;
  /** Rows at the most. */
  limit: number;
}

/** What was found of a page. */
export interface Found<Row> {
  rows: Row[];
  /** Where a look ended that had gone through as many rows as it may, before it had found enough. */
  stoppedAt?: string;
}
