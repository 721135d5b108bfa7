import { queryOptions } from '@tanstack/react-query';
import { answerOf, api, type Schemas } from '../../app/api.js';
import { type PagedList, pagedQuery } from '../../app/paged-query.js';

export type Subscription = Schemas['Webhook'];

export type SubscriptionList = PagedList<Subscription>;

/** The subscriptions of the account and of its applications that match, or those of one application. */
export const subscriptionsQuery = ({ applicationId, ...filters }: Record<string, string>) =>
  pagedQuery(['webhooks', { applicationId, ...filters }], (page, signal) => {
    const query = { ...(filters as object), ...page };
    return applicationId === undefined
      ? api.GET('/v1/webhooks', { params: { query: { ...query, scope: 'all' } }, signal })
      : api.GET('/v1/applications/{applicationId}/webhooks', {
          params: { path: { applicationId }, query },
          signal,
        });
  });

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
