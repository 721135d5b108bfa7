import { queryOptions } from '@tanstack/react-query';
import { answerOf, api } from './api.js';

/** Reads the names of at most this many; the others are shown by id. */
const limit = 500;
/** Changes made in the console invalidate names at once. */
const staleTime = 60_000;

/** The account's first applications, for their names. */
export const namedApplicationsQuery = queryOptions({
  queryKey: ['applications', 'named'],
  staleTime,
  queryFn: ({ signal }) =>
    answerOf(api.GET('/v1/applications', { params: { query: { limit } }, signal })),
});

/** The account's first subscriptions, for their names. */
export const namedSubscriptionsQuery = queryOptions({
  queryKey: ['webhooks', 'named'],
  staleTime,
  queryFn: ({ signal }) =>
    answerOf(api.GET('/v1/webhooks', { params: { query: { scope: 'all', limit } }, signal })),
});
