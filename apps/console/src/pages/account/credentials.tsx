import { useState } from 'react';
import { sentenceOf } from '../../app/api.js';
import { useHasDraft } from '../../app/drafts.js';
import { useCommands } from '../../app/commands.js';
import { useMayChange, useUser } from '../../app/session.js';
import { Confirm } from '../../components/confirm.js';
import { BUTTONS, Lines, wide } from '../../components/lines.js';
import { ShownOnce } from '../../components/shown-once.js';
import { DayOfYear, LocalTime, RelativeTime, useNow } from '../../components/time.js';
import { Pill } from '../../components/notice.js';
import type { Account, Credential, useAccountChanges } from './account.queries.js';
import { NewCredential } from './new-credential.js';
import { NewLink } from './new-link.js';

const HEADS = ['Credential', 'Scope', wide('Created'), 'Last used', 'Expires', BUTTONS];
const HOUR_MS = 3_600_000;

/** The credentials of a user, each of which logs in, and links to the console. */
export function Credentials({
  account,
  changes: { add, revoke, link },
}: {
  account: Account;
  changes: ReturnType<typeof useAccountChanges>;
}) {
  const mayChange = useMayChange();
  const { byLink } = useUser();
  const [isNew, setIsNew] = useState(useHasDraft('New credential'));
  const [isNewLink, setIsNewLink] = useState(useHasDraft('New link'));
  const [leaving, setLeaving] = useState<Credential>();
  function open(): void {
    add.reset();
    setIsNew(true);
  }
  function openLink(): void {
    link.reset();
    setIsNewLink(true);
  }
  const commands = [
    { name: 'Add a credential', group: 'Actions', run: open },
    // Reporters cannot use the console, and a session that began with a link cannot create links.
    ...(account.role === 'reporter' || byLink
      ? []
      : [{ name: 'Create a link to the console', group: 'Actions', run: openLink }]),
  ];
  useCommands(mayChange ? commands : []);

  const added = isNew ? undefined : add.data;
  const linked = isNewLink ? undefined : link.data;
  return (
    <>
      {added && (
        <ShownOnce name="password" secret={added.password} onDone={add.reset}>
          Credential {added.id} was added.
        </ShownOnce>
      )}
      {linked && (
        <ShownOnce name="link" secret={linked.url} onDone={link.reset}>
          Whoever opens the link first is logged in as <bdi>{account.username}</bdi>, until{' '}
          <LocalTime at={linked.expiresAt} />.
        </ShownOnce>
      )}
      <section className="card credentials" aria-labelledby="credentials">
        <header>
          <h2 id="credentials">Credentials</h2>
          <span className="actions">
            {mayChange &&
              commands.map(({ name, run }) => (
                <button key={name} type="button" className="small" onClick={run}>
                  {name}
                </button>
              ))}
          </span>
        </header>
        {mayChange && (
          <p className="muted">
            {account.credentials.length === 0
              ? 'This account has no credential, so it cannot log in. Add one.'
              : 'To change a password without downtime, add one, switch the clients over, and revoke the old one.'}
          </p>
        )}
        {account.credentials.length > 0 && (
          <Lines heads={HEADS}>
            {account.credentials.map((credential) => (
              <tr key={credential.id}>
                <td>
                  <bdi>{credential.name}</bdi> <span className="muted">{credential.id}</span>
                </td>
                <td>{credential.scope}</td>
                <td className="muted wide">
                  <DayOfYear at={credential.createdAt} />
                </td>
                <td className="muted">
                  {credential.lastUsedAt === undefined ? (
                    'never'
                  ) : (
                    <LastUse at={credential.lastUsedAt} />
                  )}
                </td>
                <td>
                  <Expiry at={credential.expiresAt} />
                </td>
                <td className="number">
                  {mayChange && (
                    <button
                      type="button"
                      className="small"
                      aria-label={`Revoke credential ${credential.id}`}
                      onClick={() => {
                        revoke.reset();
                        setLeaving(credential);
                      }}
                    >
                      Revoke
                    </button>
                  )}
                </td>
              </tr>
            ))}
          </Lines>
        )}
      </section>
      {mayChange && isNew && <NewCredential add={add} onClose={() => setIsNew(false)} />}
      {mayChange && !byLink && isNewLink && (
        <NewLink link={link} onClose={() => setIsNewLink(false)} />
      )}
      {leaving && (
        <Confirm
          label={`Revoke credential ${leaving.id}?`}
          action="Revoke"
          isBusy={revoke.isPending}
          error={revoke.error ? sentenceOf(revoke.error) : undefined}
          onConfirm={() => revoke.mutate(leaving.id, { onSuccess: () => setLeaving(undefined) })}
          onClose={() => setLeaving(undefined)}
        >
          <p>Within a second, it stops working, and sessions that it started end.</p>
        </Confirm>
      )}
    </>
  );
}

/** When a credential was last used. @param at the beginning of the hour */
export function LastUse({ at }: { at: string }) {
  const isNow = useNow((now) => now - Date.parse(at) < HOUR_MS);
  return isNow ? 'this hour' : <RelativeTime at={at} />;
}

function Expiry({ at }: { at: string | undefined }) {
  const isOver = useNow((now) => at !== undefined && Date.parse(at) <= now);
  if (at === undefined) return <span className="muted">never</span>;
  return (
    <Pill tone={isOver ? 'bad' : 'waiting'}>
      {isOver && 'expired '}
      <RelativeTime at={at} />
    </Pill>
  );
}
