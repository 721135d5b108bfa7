import { queryOptions } from '@tanstack/react-query';
import { answerOf, api, type Schemas } from '../../app/api.js';

export type Subscription = Schemas['Webhook'];

/** The console filters and sorts at most this many subscriptions: the API's largest page. */
export const MOST_SHOWN = 1_000;

const include = 'activity';
/** How often a list refetches its activity. */
const refetchInterval = 30_000;

/** The subscriptions of the account and of its applications, at most {@link MOST_SHOWN}, with their activity. */
export const subscriptionsQuery = queryOptions({
  queryKey: ['webhooks', 'all'],
  refetchInterval,
  queryFn: ({ signal }) => {
    const query = { scope: 'all', include, limit: MOST_SHOWN } as const;
    return answerOf(api.GET('/v1/webhooks', { params: { query }, signal }));
  },
});

/**
 * All subscriptions of one level, few enough for one request.
 * @param applicationId '': the account
 */
export const subscriptionsAt = (applicationId: string) =>
  queryOptions({
    queryKey: ['webhooks', 'level', applicationId],
    refetchInterval,
    queryFn: ({ signal }) =>
      answerOf(
        applicationId === ''
          ? api.GET('/v1/webhooks', { params: { query: { include } }, signal })
          : api.GET('/v1/applications/{applicationId}/webhooks', {
              params: { path: { applicationId }, query: { include } },
              signal,
            }),
      ),
  });
