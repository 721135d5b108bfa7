import { queryOptions } from '@tanstack/react-query';
import { accountQuery, readOnce } from '../../app/account.js';
import { answerOf, api } from '../../app/api.js';
import { FRESH_MS } from '../../app/names.queries.js';

/** Refetches a list on screen from time to time, because the stream does not report each attempt. */
export const withActivity = <Query extends object>(query: Query, customer: string | undefined) => ({
  ...query,
  ...(customer === undefined && { staleTime: FRESH_MS, refetchInterval: 30_000 }),
});

/**
 * All subscriptions of one level, few enough for one request.
 * @param applicationId '': the account
 * @param customer for operators: of another account
 */
export const subscriptionsAt = (applicationId: string, customer?: string) =>
  queryOptions({
    queryKey: ['webhooks', 'level', applicationId, { customer }],
    ...readOnce(customer),
    queryFn: ({ signal }) => {
      const query = { include: 'activity', ...accountQuery(customer) } as const;
      const params = { path: { applicationId }, query };
      return answerOf(
        applicationId === ''
          ? api.GET('/v1/webhooks', { params: { query }, signal })
          : api.GET('/v1/applications/{applicationId}/webhooks', { params, signal }),
      );
    },
  });
