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
