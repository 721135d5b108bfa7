import { queryOptions } from '@tanstack/react-query';
import { accountQuery, readOnce } from './account.js';
import { answerOf, api, type Schemas } from './api.js';

/** Changes made in the console invalidate both at once, and the stream keeps subscriptions fresh. */
const staleTime = 60_000;

/** All applications of an account. @param customer for operators: of another account */
export const applicationsOf = (customer?: string) =>
  queryOptions({
    queryKey: ['applications', 'all', { customer }],
    staleTime,
    ...readOnce(customer),
    queryFn: ({ signal }) => {
      const params = { query: accountQuery(customer) };
      return answerOf(api.GET('/v1/applications', { params, signal }));
    },
  });

/** For pages about subscriptions: short, and longer than a page needs to load what the side bar has just read. */
export const FRESH_MS = 5_000;

export type Subscription = Schemas['Webhook'];

/** All subscriptions of an account and of its applications. @param customer for operators: of another account */
export const subscriptionsOf = (customer?: string) =>
  queryOptions({
    queryKey: ['webhooks', 'all', { customer }],
    staleTime,
    ...readOnce(customer),
    queryFn: ({ signal }) => {
      const query = { scope: 'all', include: 'activity', ...accountQuery(customer) } as const;
      return answerOf(api.GET('/v1/webhooks', { params: { query }, signal }));
    },
  });
