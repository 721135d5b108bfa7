import { useMutation, useQueryClient } from '@tanstack/react-query';
import { answerOf, api, type Schemas } from '../../app/api.js';
import { pagedQuery } from '../../app/paged-query.js';

export type User = Schemas['User'];
export type Role = User['role'];

/** All users, in ascending order of id. */
export const usersQuery = pagedQuery(['users', 'list'], (query, signal) =>
  api.GET('/v1/users', { params: { query }, signal }),
);

/** Creates a user. Without a password, the API generates one. */
export function useCreateUser() {
  const client = useQueryClient();
  return useMutation({
    // The result may hold a password.
    gcTime: 0,
    mutationFn: async (body: { username: string; role: Role; password?: string }) => ({
      ...(await answerOf(api.POST('/v1/users', { body }))),
      username: body.username,
    }),
    onSuccess: () => client.invalidateQueries({ queryKey: ['users'] }),
  });
}
