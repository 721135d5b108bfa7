import { useMutation, useQueryClient } from '@tanstack/react-query';
import { answerOf, api, type Schemas } from '../../app/api.js';

export type Account = Schemas['UserWithCredentials'];
/** What a request can set; a closed account stays closed. */
export type GivenStatus = Exclude<Account['status'], 'closing' | 'closed'>;
export type Credential = Account['credentials'][number];

/** Changes to a user. Each reloads the user and the list afterwards. */
export function useAccountChanges(id: string) {
  const client = useQueryClient();
  const path = { user: id };
  const onSettled = () =>
    Promise.all([
      client.invalidateQueries({ queryKey: ['user'] }),
      client.invalidateQueries({ queryKey: ['users'] }),
    ]);
  const setStatus = useMutation({
    mutationFn: (status: GivenStatus) =>
      answerOf(api.PUT('/v1/users/{user}', { params: { path }, body: { status } })),
    onSettled,
  });
  const add = useMutation({
    // The result may hold a password.
    gcTime: 0,
    mutationFn: (body: Schemas['CreateCredential']) =>
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
  const link = useMutation({
    // The result is a login.
    gcTime: 0,
    mutationFn: (body: Schemas['CreateLink']) =>
      answerOf(api.POST('/v1/users/{user}/links', { params: { path }, body })),
  });
  const close = useMutation({
    mutationFn: () => answerOf(api.DELETE('/v1/users/{user}', { params: { path } })),
    onSettled,
  });
  return { setStatus, add, revoke, link, close };
}
