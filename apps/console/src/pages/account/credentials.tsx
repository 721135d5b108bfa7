import { useState } from 'react';
import { sentenceOf } from '../../app/api.js';
import { useHasDraft } from '../../app/drafts.js';
import { useCommands } from '../../app/palette.js';
import { Confirm } from '../../components/confirm.js';
import { PasswordOnce } from '../../components/password-once.js';
import { LocalTime, RelativeTime, useNow } from '../../components/time.js';
import { Pill } from '../../components/notice.js';
import type { Account, Credential, useAccountChanges } from './account.queries.js';
import { NewCredential } from './new-credential.js';

/** The credentials of a user: any of them logs in. */
export function Credentials({
  account,
  changes: { add, revoke },
}: {
  account: Account;
  changes: ReturnType<typeof useAccountChanges>;
}) {
  const [isNew, setIsNew] = useState(useHasDraft('New credential'));
  const [leaving, setLeaving] = useState<Credential>();
  function open(): void {
    add.reset();
    setIsNew(true);
  }
  useCommands([{ name: 'Add a credential', group: 'Actions', run: open }]);

  const added = isNew ? undefined : add.data;
  return (
    <section aria-labelledby="credentials">
      <h2 id="credentials">Credentials</h2>
      <p className="quiet">
        To change a password without downtime, add one, switch the clients over, and revoke the old
        one.
      </p>
      {added && (
        <PasswordOnce password={added.password} onDone={add.reset}>
          Credential {added.id} was added.
        </PasswordOnce>
      )}
      {account.credentials.length === 0 && <p>There is none: nobody can log in. Add one.</p>}
      <ul className="rows">
        {account.credentials.map((credential) => (
          <li key={credential.id} className="credential">
            <span>
              <span className="strong">Credential {credential.id}</span>{' '}
              <Expiry at={credential.expiresAt} />
              <br />
              <span className="quiet">
                created <LocalTime at={credential.createdAt} />,{' '}
                {credential.lastUsedAt === undefined ? (
                  'never used'
                ) : (
                  <>
                    last used <RelativeTime at={credential.lastUsedAt} />
                  </>
                )}
              </span>
            </span>
            <button
              type="button"
              aria-label={`Revoke credential ${credential.id}`}
              onClick={() => {
                revoke.reset();
                setLeaving(credential);
              }}
            >
              Revoke
            </button>
          </li>
        ))}
      </ul>
      <div className="tools">
        <button type="button" onClick={open}>
          Add a credential
        </button>
      </div>
      {isNew && <NewCredential add={add} onClose={() => setIsNew(false)} />}
      {leaving && (
        <Confirm
          label={`Revoke credential ${leaving.id}?`}
          action="Revoke"
          isBusy={revoke.isPending}
          error={revoke.error ? sentenceOf(revoke.error) : undefined}
          onConfirm={() => revoke.mutate(leaving.id, { onSuccess: () => setLeaving(undefined) })}
          onClose={() => setLeaving(undefined)}
        >
          <p>Within a second, it stops working, and sessions that it began end.</p>
        </Confirm>
      )}
    </section>
  );
}

function Expiry({ at }: { at: string | undefined }) {
  const isOver = useNow((now) => at !== undefined && Date.parse(at) <= now);
  if (at === undefined) return null;
  return (
    <Pill tone={isOver ? 'bad' : 'waiting'}>
      {isOver ? 'expired' : 'expires'} <RelativeTime at={at} />
    </Pill>
  );
}
