import { infiniteQueryOptions, useMutation, useQueryClient } from '@tanstack/react-query';
import { answerOf, api, nextPageOf, type Schemas } from '../../app/api.js';

export type User = Schemas['User'];
export type Role = User['role'];

const PAGE_ROWS = 200;

/** All users, in ascending order of id. */
export const usersQuery = infiniteQueryOptions({
  queryKey: ['users', 'list'],
  initialPageParam: {},
  queryFn: async ({ pageParam, signal }) => {
    const query = { ...pageParam, limit: PAGE_ROWS };
    const call = api.GET('/v1/users', { params: { query }, signal });
    const rows: User[] = await answerOf(call);
    return { rows, next: nextPageOf((await call).response) };
  },
  getNextPageParam: ({ next }) => next,
});

/** Creates a user; without a password, the API makes one. */
export function useCreateUser() {
  const client = useQueryClient();
  return useMutation({
    // It may hold a password.
    gcTime: 0,
    mutationFn: async (body: { username: string; role: Role; password?: string }) => ({
      ...(await answerOf(api.POST('/v1/users', { body }))),
      username: body.username,
    }),
    onSuccess: () => client.invalidateQueries({ queryKey: ['users'] }),
  });
}
