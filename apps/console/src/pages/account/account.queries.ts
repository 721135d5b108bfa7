import { useMutation, useQueryClient } from '@tanstack/react-query';
import { answerOf, api, type Schemas } from '../../app/api.js';

export type Account = Schemas['UserWithCredentials'];
export type Credential = Account['credentials'][number];

/** Changes of a user. Afterwards, the user and the list are read again. */
export function useAccountChanges(id: string) {
  const client = useQueryClient();
  const path = { user: id };
  const onSettled = () =>
    Promise.all([
      client.invalidateQueries({ queryKey: ['user'] }),
      client.invalidateQueries({ queryKey: ['users'] }),
    ]);
  const setStatus = useMutation({
    mutationFn: (status: Account['status']) =>
      answerOf(api.PUT('/v1/users/{user}', { params: { path }, body: { status } })),
    onSettled,
  });
  const add = useMutation({
    // It may hold a password.
    gcTime: 0,
    mutationFn: (body: { password?: string; expiresAt?: string }) =>
      answerOf(api.POST('/v1/users/{user}/credentials', { params: { path }, body })),
    onSettled,
  });
  const revoke = useMutation({
    mutationFn: (credential: string) =>
      answerOf(
        api.DELETE('/v1/users/{user}/credentials/{credential}', {
          params: { path: { ...path, credential } },
        }),
      ),
    onSettled,
  });
  return { setStatus, add, revoke };
}
