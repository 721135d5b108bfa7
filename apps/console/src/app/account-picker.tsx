import './account-picker.css';
import { skipToken, useMutation, useQuery } from '@tanstack/react-query';
import { ChevronsUpDown, X } from 'lucide-react';
import { type KeyboardEvent, useId, useState } from 'react';
import { useSearchParams } from 'wouter';
import { accountsQuery, readUser, userQuery } from './account.queries.js';
import { accountsLike } from './account-search.js';
import { useAccountShown } from './account.js';
import { RefusedError, sentenceOf } from './api.js';

/** Offers at most this many accounts; typing finds the others. */
const OFFERED = 100;

/** Lets the platform pick the account that a page shows: `accountId` in the address. */
export function AccountPicker({
  none,
}: {
  /** The placeholder when no account is picked. */
  none: string;
}) {
  const { accountId } = useAccountShown();
  const [, setSearch] = useSearchParams();
  /** The typed text while the list is open. */
  const [typed, setTyped] = useState<string>();
  const [active, setActive] = useState(0);
  const id = useId();
  const isOpen = typed !== undefined;
  const { data: accounts } = useQuery({ ...accountsQuery, enabled: isOpen });
  const shown = useQuery({
    ...userQuery(accountId ?? ''),
    ...(accountId === undefined && { queryFn: skipToken }),
  });
  const find = useMutation({
    mutationFn: (name: string) => readUser(name),
    onSuccess: (found) => pick(String(found.id)),
  });

  const name = accountId === undefined ? '' : (shown.data?.username ?? accountId);
  const found = accountsLike(accounts ?? [], typed ?? '');
  const offered = found.slice(0, OFFERED);

  function open(text: string): void {
    setTyped(text);
    setActive(text === '' ? -1 : 0);
    find.reset();
  }
  function pick(next: string | undefined): void {
    setTyped(undefined);
    find.reset();
    setSearch((search) => {
      const changed = new URLSearchParams(search);
      if (next === undefined) changed.delete('accountId');
      else changed.set('accountId', next);
      return changed;
    });
  }

  function onKeyDown(event: KeyboardEvent): void {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step !== undefined) {
      event.preventDefault();
      if (!isOpen) open('');
      else if (offered.length > 0)
        activate((Math.max(active, step < 0 ? 0 : -1) + step + offered.length) % offered.length);
    } else if (event.key === 'Enter' && isOpen) {
      event.preventDefault();
      const chosen = offered[active];
      if (chosen) pick(String(chosen.id));
      else if (typed.trim() === '') pick(undefined);
      // The account may not be among those offered.
      else find.mutate(typed.trim());
    } else if (event.key === 'Escape' && isOpen) {
      event.preventDefault();
      setTyped(undefined);
    }
  }
  function activate(index: number): void {
    setActive(index);
    document.getElementById(`${id}-${index}`)?.scrollIntoView({ block: 'nearest' });
  }

  const error = find.error ?? (isOpen ? null : shown.error);
  return (
    <div className="account-picker" role="search" aria-label="Account to show">
      <label htmlFor={`${id}-input`}>Account</label>
      <span className="combobox">
        <input
          id={`${id}-input`}
          role="combobox"
          aria-expanded={isOpen}
          aria-controls={isOpen && offered.length > 0 ? id : undefined}
          aria-activedescendant={isOpen && offered[active] ? `${id}-${active}` : undefined}
          aria-invalid={error ? true : undefined}
          aria-describedby={`${id}-problem`}
          autoComplete="off"
          spellCheck={false}
          placeholder={name === '' ? none : name}
          value={typed ?? name}
          onClick={() => !isOpen && open('')}
          onKeyDown={onKeyDown}
          onBlur={() => !find.isPending && setTyped(undefined)}
          onChange={({ target }) => open(target.value)}
        />
        {accountId === undefined ? (
          <ChevronsUpDown size={14} aria-hidden />
        ) : (
          <button type="button" className="plain" onClick={() => pick(undefined)}>
            <X size={14} aria-label="Clear the account" />
          </button>
        )}
        {isOpen && (
          // Keep the focus in the field.
          <div className="account-choices" onMouseDown={(event) => event.preventDefault()}>
            {offered.length > 0 && (
              <div id={id} role="listbox" aria-label="Accounts">
                {offered.map((account, index) => (
                  <div
                    key={account.id}
                    id={`${id}-${index}`}
                    role="option"
                    aria-selected={index === active}
                    onPointerMove={() => setActive(index)}
                    onClick={() => pick(String(account.id))}
                  >
                    <bdi>{account.username}</bdi> <span className="quiet">{account.id}</span>
                  </div>
                ))}
              </div>
            )}
            <p className="quiet" role="status">
              {noteOf(accounts && found.length)}
            </p>
          </div>
        )}
      </span>
      <p className="problem" id={`${id}-problem`} role="alert">
        {error && pickerSentence(error)}
      </p>
    </div>
  );
}

function noteOf(found: number | undefined): string {
  if (found === undefined) return 'Loading …';
  if (found === 0) return 'No account has this name.';
  return found > OFFERED ? `${found.toLocaleString('en')} accounts. Type to find one.` : '';
}

function pickerSentence(error: Error): string {
  const isMissing = error instanceof RefusedError && error.status === 404;
  return isMissing ? 'There is no account with this name or id.' : sentenceOf(error);
}
