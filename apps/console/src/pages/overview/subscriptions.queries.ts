import { queryOptions, useQueryClient } from '@tanstack/react-query';
import { answerOf, api, type Schemas } from '../../app/api.js';
import { useStream } from '../../app/stream.js';

export type Subscription = Schemas['Webhook'];

/** All subscriptions, of the account and of its applications. */
export const allSubscriptionsQuery = queryOptions({
  queryKey: ['all subscriptions'],
  // Another page may just have created one.
  staleTime: 0,
  queryFn: ({ signal }) =>
    answerOf(
      api.GET('/v1/webhooks', { params: { query: { scope: 'all', include: 'activity' } }, signal }),
    ),
});

/** Refetches them when a subscription or its health changes. */
export function useLiveSubscriptions(): void {
  const client = useQueryClient();
  const { queryKey } = allSubscriptionsQuery;
  useStream({ webhook: () => void client.invalidateQueries({ queryKey }) });
}
