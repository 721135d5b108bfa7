import { type InfiniteData, infiniteQueryOptions, type QueryKey } from '@tanstack/react-query';
import { type Answer, nextPageOf } from '#libs/client';
import { answerOf } from './api.js';

/** A list of the API as far as it was read, page by page. */
export type PagedList<Row> = InfiniteData<{ rows: Row[]; next: { after: string } | undefined }>;

const PAGE_ROWS = 200;

/** A list of the API. @param read asks for a page, with what it is given as a part of the query */
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
