import './account.css';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { Link } from 'wouter';
import { userQuery } from '../../app/account.queries.js';
import { sentenceOf } from '../../app/api.js';
import { useCommands } from '../../app/palette.js';
import { Unavailable } from '../../app/problem.js';
import { Confirm } from '../../components/confirm.js';
import { Pill } from '../../components/notice.js';
import { Page } from '../../components/page.js';
import { showToast } from '../../components/toast.js';
import { LocalTime } from '../../components/time.js';
import { type Account, useAccountChanges } from './account.queries.js';
import { Credentials } from './credentials.js';

/** One user, with its credentials. */
export default function AccountPage({ params }: { params: Record<string, string> }) {
  const { data, error } = useQuery(userQuery(params['id'] ?? ''));
  if (data) return <Shown account={data} />;
  return (
    <Unavailable title="Account" error={error}>
      Go to <Link href="/accounts">all accounts</Link>.
    </Unavailable>
  );
}

function Shown({ account }: { account: Account }) {
  const { id, username, role, status, joinDate } = account;
  const changes = useAccountChanges(String(id));
  const [isAsked, setIsAsked] = useState(false);
  const isActive = status === 'active';

  function setStatus(next: Account['status']): void {
    changes.setStatus.mutate(next, {
      onSuccess: () => {
        setIsAsked(false);
        showToast(next === 'locked' ? 'Locked.' : 'Unlocked.');
      },
      // What is asked for is answered where it was asked.
      onError: (error) => next === 'active' && showToast(sentenceOf(error), 'bad'),
    });
  }
  function ask(): void {
    changes.setStatus.reset();
    setIsAsked(true);
  }
  const change = isActive ? ask : () => setStatus('active');
  const label = isActive ? 'Lock' : 'Unlock';
  useCommands([{ name: `${label} this account`, group: 'Actions', run: change }]);

  return (
    <Page
      title={username}
      tab={`${username} – Accounts`}
      crumb={
        <Link href="/accounts" className="crumb">
          Accounts
        </Link>
      }
      state={<Pill tone={isActive ? 'good' : 'bad'}>{status}</Pill>}
      actions={
        <button type="button" disabled={changes.setStatus.isPending} onClick={change}>
          {label}
        </button>
      }
    >
      <dl className="account-facts">
        <dt>Id</dt>
        <dd>{id}</dd>
        <dt>Role</dt>
        <dd>{role}</dd>
        <dt>Created</dt>
        <dd>
          <LocalTime at={joinDate} />
        </dd>
      </dl>
      <p>
        <Link href={`/overview?accountId=${id}`}>Its overview</Link> ·{' '}
        <Link href={`/deliveries?accountId=${id}`}>its deliveries</Link> ·{' '}
        <Link href={`/events?accountId=${id}`}>its events</Link> ·{' '}
        <Link href={`/audit?accountId=${id}`}>its audit log</Link>
      </p>
      <Credentials account={account} changes={changes} />
      {isAsked && (
        <Confirm
          label="Lock this account?"
          action="Lock"
          isBusy={changes.setStatus.isPending}
          error={changes.setStatus.error ? sentenceOf(changes.setStatus.error) : undefined}
          onConfirm={() => setStatus('locked')}
          onClose={() => setIsAsked(false)}
        >
          <p>
            Within a second, its logins are refused, and its sessions end for good. Its events are
            still delivered.
          </p>
        </Confirm>
      )}
    </Page>
  );
}
