import { useState } from 'react';
import { sentenceOf } from '../../app/api.js';
import { Confirm } from '../../components/confirm.js';
import { Field } from '../../components/field.js';
import type { Account, useAccountChanges } from './account.queries.js';

/** Asks for the username before it closes the account, because that cannot be undone. */
export function CloseAccount({
  account: { username },
  close,
  onClose,
}: {
  account: Account;
  close: ReturnType<typeof useAccountChanges>['close'];
  onClose: () => void;
}) {
  const [typed, setTyped] = useState('');
  return (
    <Confirm
      label="Close this account for good?"
      action="Close the account"
      isBusy={close.isPending || typed !== username}
      error={close.error ? sentenceOf(close.error) : undefined}
      onConfirm={() => close.mutate(undefined, { onSuccess: onClose })}
      onClose={onClose}
    >
      <p>
        At once, its logins end, its applications and subscriptions are deleted, and its deliveries
        are cancelled. Then all of its events, deliveries and attempts are removed. This cannot be
        undone.
      </p>
      <Field label={`Type ${username} to confirm`}>
        <input
          value={typed}
          autoComplete="off"
          spellCheck={false}
          onChange={({ target }) => setTyped(target.value)}
        />
      </Field>
    </Confirm>
  );
}

/** What remains of an account that is being closed. */
export function Remains({ remains }: { remains: NonNullable<Account['remains']> }) {
  const { events, deliveries } = remains;
  return (
    <p role="status">
      The account is being closed. Still stored: {countText(events, 'event')} and{' '}
      {countText(deliveries, 'delivery')}.
    </p>
  );
}

/** The API counts no further. */
const MOST_COUNTED = 10_000;

function countText(count: number, what: 'event' | 'delivery'): string {
  const plural = what === 'event' ? 'events' : 'deliveries';
  const text = count.toLocaleString('en');
  return `${text}${count >= MOST_COUNTED ? ' or more' : ''} ${count === 1 ? what : plural}`;
}
