import { skipToken, useMutation, useQuery } from '@tanstack/react-query';
import { type SubmitEvent, useId, useState } from 'react';
import { useSearchParams } from 'wouter';
import { Field } from '../components/field.js';
import { readUser, userQuery, userSuggestionsQuery } from './account.queries.js';
import { useAccountShown } from './account.js';
import { RefusedError, sentenceOf } from './api.js';

/** Picks whose data a page shows, for the platform: by `accountId` in the address. */
export function AccountPicker() {
  const { accountId } = useAccountShown();
  const [, setSearch] = useSearchParams();
  const [typed, setTyped] = useState<string>();
  const suggestions = useId();
  const { data: users = [] } = useQuery(userSuggestionsQuery);
  const shown = useQuery({
    ...userQuery(accountId ?? ''),
    ...(accountId === undefined && { queryFn: skipToken }),
  });
  const find = useMutation({
    mutationFn: (name: string) => readUser(name),
    onSuccess: ({ id }) => pick(String(id)),
  });

  function pick(id: string | undefined): void {
    setTyped(undefined);
    find.reset();
    setSearch((search) => {
      const next = new URLSearchParams(search);
      if (id === undefined) next.delete('accountId');
      else next.set('accountId', id);
      return next;
    });
  }

  function submit(event: SubmitEvent<HTMLFormElement>): void {
    event.preventDefault();
    const name = (new FormData(event.currentTarget).get('account') as string).trim();
    if (name === '') pick(undefined);
    else find.mutate(name);
  }

  const error = find.error ?? (typed === undefined ? shown.error : null);
  return (
    <form className="account-picker" onSubmit={submit} role="search" aria-label="Account to show">
      <Field
        label="Account"
        hint="Its name or id"
        error={error ? pickerSentence(error) : undefined}
      >
        <input
          name="account"
          list={suggestions}
          autoComplete="off"
          spellCheck={false}
          value={typed ?? (accountId === undefined ? '' : (shown.data?.username ?? accountId))}
          onChange={({ target }) => setTyped(target.value)}
        />
      </Field>
      <datalist id={suggestions}>
        {users.map(({ id, username }) => (
          <option key={id} value={username} />
        ))}
      </datalist>
      <button type="submit">Show</button>
      <button type="button" disabled={accountId === undefined} onClick={() => pick(undefined)}>
        Clear
      </button>
    </form>
  );
}

function pickerSentence(error: Error): string {
  const isMissing = error instanceof RefusedError && error.status === 404;
  return isMissing ? 'There is no account with this name or id.' : sentenceOf(error);
}
