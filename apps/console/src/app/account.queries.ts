import { queryOptions } from '@tanstack/react-query';
import { answerOf, api, RefusedError } from './api.js';

const SUGGESTED = 200;

/** Some users, to choose from. */
export const userSuggestionsQuery = queryOptions({
  queryKey: ['users', 'suggestions'],
  staleTime: 60_000,
  queryFn: ({ signal }) =>
    answerOf(api.GET('/v1/users', { params: { query: { limit: SUGGESTED } }, signal })),
});

/** A user with its credentials. @param user the id or the username */
export const userQuery = (user: string) =>
  queryOptions({ queryKey: ['user', user], queryFn: ({ signal }) => readUser(user, signal) });

/** @throws RefusedError with 404 if there is none */
export async function readUser(user: string, signal?: AbortSignal) {
  // What is neither an id nor a username could be a path of its own, such as `..`.
  if (!/^[\da-z][\w.@-]*$/i.test(user)) throw new RefusedError(404, undefined);
  const params = { path: { user } };
  return answerOf(api.GET('/v1/users/{user}', { params, ...(signal && { signal }) }));
}
