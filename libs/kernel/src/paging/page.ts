/** One page of a list in keyset order. */
export interface Page {
  /** The last id of the page before; absent on the first page. */
  after?: string;
  /** Rows at the most. */
  limit: number;
}
