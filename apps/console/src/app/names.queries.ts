import { queryOptions } from '@tanstack/react-query';
import { accountQuery, readOnce } from './account.js';
import { answerOf, api } from './api.js';

/** Reads the names of at most this many; the others are shown by id. */
const limit = 500;
/** Changes made in the console invalidate names at once. */
const staleTime = 60_000;

/**
 * An account's first applications, for their names. @param customer for the platform: of another account
 */
export const applicationsOf = (customer?: string) =>
  queryOptions({
    queryKey: ['applications', 'named', { customer }],
    staleTime,
    ...readOnce(customer),
    queryFn: ({ signal }) => {
      const query = { limit, ...accountQuery(customer) };
      return answerOf(api.GET('/v1/applications', { params: { query }, signal }));
    },
  });

/** The first applications of the user's own account. */
export const namedApplicationsQuery = applicationsOf();

/** The account's first subscriptions, for their names. */
export const namedSubscriptionsQuery = queryOptions({
  queryKey: ['webhooks', 'named'],
  staleTime,
  queryFn: ({ signal }) =>
    answerOf(api.GET('/v1/webhooks', { params: { query: { scope: 'all', limit } }, signal })),
});
