import { infiniteQueryOptions } from '@tanstack/react-query';
import { answerOf, api, nextPageOf, type Schemas } from '../../app/api.js';

export type Event = Schemas['Event'];

const PAGE_ROWS = 200;

/** Events that match filters as the API has them, newest first. */
export function eventsQuery({ unmatched, ...filters }: Record<string, string>) {
  return infiniteQueryOptions({
    queryKey: ['events', filters, unmatched],
    initialPageParam: {},
    queryFn: async ({ pageParam, signal }) => {
      const query = {
        ...filters,
        // Another text than these is the API's to refuse.
        ...(unmatched !== undefined && { unmatched: unmatched as unknown as boolean }),
        ...pageParam,
        limit: PAGE_ROWS,
      };
      const call = api.GET('/v1/events', { params: { query }, signal });
      const rows = await answerOf(call);
      return { rows, next: nextPageOf((await call).response) };
    },
    getNextPageParam: ({ next }) => next,
  });
}
