import { queryOptions } from '@tanstack/react-query';
import { nextPageOf } from '#libs/client';
import { answerOf, api, RefusedError, type Schemas } from './api.js';

/** Accounts per request. */
const PAGE = 1_000;
/** Accounts beyond these are found by their whole name or id. */
const MOST = 10_000;

/** The first accounts, to choose from. */
export const accountsQuery = queryOptions({
  queryKey: ['users', 'all'],
  staleTime: 60_000,
  queryFn: async ({ signal }) => {
    const accounts: Schemas['User'][] = [];
    let page: { after?: string } | undefined = {};
    while (page && accounts.length < MOST) {
      const call = api.GET('/v1/users', { params: { query: { ...page, limit: PAGE } }, signal });
      accounts.push(...(await answerOf(call)));
      page = nextPageOf((await call).response);
    }
    return accounts;
  },
});

/** A user with its credentials. @param user the id or the username */
export const userQuery = (user: string) =>
  queryOptions({ queryKey: ['user', user], queryFn: ({ signal }) => readUser(user, signal) });

/** @throws RefusedError with 404 if there is none */
export async function readUser(user: string, signal?: AbortSignal) {
  // Anything else could be a path segment, such as `..`.
  if (!/^[\da-z][\w.@-]*$/i.test(user)) throw new RefusedError(404, undefined);
  const params = { path: { user } };
  return answerOf(api.GET('/v1/users/{user}', { params, ...(signal && { signal }) }));
}
