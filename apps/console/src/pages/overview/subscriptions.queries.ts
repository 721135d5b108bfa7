import { queryOptions, useQueryClient } from '@tanstack/react-query';
import { answerOf, api, type Schemas } from '../../app/api.js';
import { useStream } from '../../app/stream.js';

export type Subscription = Schemas['Webhook'];

/** All subscriptions, at account level and of every application. */
export const allSubscriptionsQuery = queryOptions({
  queryKey: ['all subscriptions'],
  // Another page may just have made one.
  staleTime: 0,
  queryFn: ({ signal }) =>
    answerOf(api.GET('/v1/webhooks', { params: { query: { scope: 'all' } }, signal })),
});

/** Reads them again when one has changed, or its health has. */
export function useLiveSubscriptions(): void {
  const client = useQueryClient();
  const { queryKey } = allSubscriptionsQuery;
  useStream({ webhook: () => void client.invalidateQueries({ queryKey }) });
}
