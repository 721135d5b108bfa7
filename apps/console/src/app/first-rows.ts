import { type Answer, answerOf, nextPageOf } from '#libs/client';

/** A search that finds nothing goes on for this many pages: about a million rows. */
const MOST_PAGES = 100;

/**
 * The first rows of a list, up to a limit. The API reads a bounded number of rows for a page, so that one may have fewer
 * rows, or none, though more follow.
 * @param read requests a page; its argument is part of the query
 */
export async function firstRows<Row>(
  limit: number,
  read: (page: { after?: string; limit: number }) => Promise<Answer<Row[]>>,
): Promise<{ rows: Row[]; isMore: boolean }> {
  const rows: Row[] = [];
  let next: { after?: string } | undefined = {};
  for (let pages = 0; next && rows.length < limit && pages < MOST_PAGES; pages += 1) {
    const call = read({ ...next, limit: limit - rows.length });
    rows.push(...(await answerOf(call)));
    next = nextPageOf((await call).response);
  }
  return { rows, isMore: next !== undefined };
}
