import { queryOptions } from '@tanstack/react-query';
import { accountQuery, readOnce } from '../../app/account.js';
import { answerOf, api, type Schemas } from '../../app/api.js';

export type Subscription = Schemas['Webhook'];

/** The console filters and sorts at most this many subscriptions: the API's largest page. */
export const MOST_SHOWN = 1_000;

const include = 'activity';
/** How often a list refetches its activity. */
const refetchInterval = 30_000;

/**
 * The subscriptions of the account and of its applications, at most {@link MOST_SHOWN}, with their activity.
 * @param customer for the platform: of another account
 */
export const subscriptionsQuery = (customer: string | undefined) =>
  queryOptions({
    queryKey: ['webhooks', 'all', { customer }],
    refetchInterval,
    ...readOnce(customer),
    queryFn: ({ signal }) => {
      const of = accountQuery(customer);
      const query = { scope: 'all', include, limit: MOST_SHOWN, ...of } as const;
      return answerOf(api.GET('/v1/webhooks', { params: { query }, signal }));
    },
  });

/**
 * All subscriptions of one level, few enough for one request.
 * @param applicationId '': the account
 * @param customer for the platform: of another account
 */
export const subscriptionsAt = (applicationId: string, customer?: string) =>
  queryOptions({
    queryKey: ['webhooks', 'level', applicationId, { customer }],
    refetchInterval,
    ...readOnce(customer),
    queryFn: ({ signal }) => {
      const query = { include, ...accountQuery(customer) } as const;
      const params = { path: { applicationId }, query };
      return answerOf(
        applicationId === ''
          ? api.GET('/v1/webhooks', { params: { query }, signal })
          : api.GET('/v1/applications/{applicationId}/webhooks', { params, signal }),
      );
    },
  });
