import { type InfiniteData, infiniteQueryOptions, type QueryKey } from '@tanstack/react-query';
import { type Answer, nextPageOf } from '#libs/client';
import { answerOf } from './api.js';

/** The pages of a list that were read so far. */
export type PagedList<Row> = InfiniteData<{ rows: Row[]; next: { after: string } | undefined }>;

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
    queryFn: async ({ pageParam, signal }) => {
      const call = read({ ...pageParam, limit: PAGE_ROWS }, signal);
      const rows = await answerOf(call);
      return { rows, next: nextPageOf((await call).response) };
    },
    getNextPageParam: ({ next }) => next,
  });
}
