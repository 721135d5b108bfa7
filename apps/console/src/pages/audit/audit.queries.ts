import { infiniteQueryOptions } from '@tanstack/react-query';
import { answerOf, api, nextPageOf, type Schemas } from '../../app/api.js';

export type AuditEntry = Schemas['AuditEntry'];

const PAGE_ROWS = 200;

/** Changes that match filters as the API has them, newest first. */
export function auditQuery(filters: Record<string, string>) {
  return infiniteQueryOptions({
    queryKey: ['audit', filters],
    // Another page may just have changed something.
    staleTime: 0,
    initialPageParam: {},
    queryFn: async ({ pageParam, signal }) => {
      const query = { ...filters, ...pageParam, limit: PAGE_ROWS };
      const call = api.GET('/v1/audit', { params: { query }, signal });
      const rows = await answerOf(call);
      return { rows, next: nextPageOf((await call).response) };
    },
    getNextPageParam: ({ next }) => next,
  });
}
