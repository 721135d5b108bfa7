import { type InfiniteData, infiniteQueryOptions, type QueryKey } from '@tanstack/react-query';
import { type Answer, nextPageOf } from '#libs/client';
import { answerOf } from './api.js';

/** A page of a list. */
interface ListPage<Row> {
  rows: Row[];
  next: { after: string } | undefined;
  /** How far back the API has searched, if the page ends because it has read enough rows. */
  searchedTo?: string | undefined;
}

/** The pages of a list that were read so far. */
export type PagedList<Row> = InfiniteData<ListPage<Row>>;

const PAGE_ROWS = 200;

/**
 * A paged list of the API. @param read requests a page; its argument is part of the query
 */
export function pagedQuery<Row>(
  queryKey: QueryKey,
  read: (page: { after?: string; limit: number }, signal: AbortSignal) => Promise<Answer<Row[]>>,
) {
  return infiniteQueryOptions({
    queryKey,
    initialPageParam: {},
    queryFn: async ({ pageParam, signal }): Promise<ListPage<Row>> => {
      const call = read({ ...pageParam, limit: PAGE_ROWS }, signal);
      const rows = await answerOf(call);
      const { response } = await call;
      const searchedTo = response.headers.get('Switchhook-Searched-To') ?? undefined;
      return { rows, next: nextPageOf(response), searchedTo };
    },
    getNextPageParam: ({ next }) => next,
  });
}
