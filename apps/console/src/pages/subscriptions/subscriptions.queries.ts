import { infiniteQueryOptions, type InfiniteData, queryOptions } from '@tanstack/react-query';
import { answerOf, api, nextPageOf, type Schemas } from '../../app/api.js';

export type Subscription = Schemas['Webhook'];

interface SubscriptionsPage {
  rows: Subscription[];
  next: { after: string } | undefined;
}

export type SubscriptionList = InfiniteData<SubscriptionsPage>;

const PAGE_ROWS = 200;

/** The subscriptions of the account and of its applications that match, or those of one application. */
export function subscriptionsQuery({ applicationId, ...filters }: Record<string, string>) {
  return infiniteQueryOptions({
    queryKey: ['webhooks', { applicationId, ...filters }],
    initialPageParam: {},
    queryFn: async ({ pageParam, signal }): Promise<SubscriptionsPage> => {
      const query = { ...(filters as object), ...pageParam, limit: PAGE_ROWS };
      const call =
        applicationId === undefined
          ? api.GET('/v1/webhooks', { params: { query: { ...query, scope: 'all' } }, signal })
          : api.GET('/v1/applications/{applicationId}/webhooks', {
              params: { path: { applicationId }, query },
              signal,
            });
      const rows = await answerOf(call);
      return { rows, next: nextPageOf((await call).response) };
    },
    getNextPageParam: ({ next }) => next,
  });
}

/** All subscriptions of one level: few enough to be read at once. @param applicationId '': the account */
export const subscriptionsAt = (applicationId: string) =>
  queryOptions({
    queryKey: ['webhooks', 'level', applicationId],
    queryFn: ({ signal }) =>
      answerOf(
        applicationId === ''
          ? api.GET('/v1/webhooks', { signal })
          : api.GET('/v1/applications/{applicationId}/webhooks', {
              params: { path: { applicationId } },
              signal,
            }),
      ),
  });
