import { infiniteQueryOptions } from '@tanstack/react-query';
import { answerOf, api, nextPageOf, type Schemas } from '../../app/api.js';

export type Application = Schemas['Application'];

const PAGE_ROWS = 200;

/** The account's applications, oldest first. */
export const applicationsQuery = infiniteQueryOptions({
  queryKey: ['applications'],
  initialPageParam: {},
  queryFn: async ({ pageParam, signal }) => {
    const query = { ...pageParam, limit: PAGE_ROWS };
    const call = api.GET('/v1/applications', { params: { query }, signal });
    const rows = await answerOf(call);
    return { rows, next: nextPageOf((await call).response) };
  },
  getNextPageParam: ({ next }) => next,
});
