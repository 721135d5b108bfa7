import '../subscription/subscription.css';
import './account.css';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { Link } from 'wouter';
import { ROLES } from '../../app/account-columns.js';
import { userQuery } from '../../app/account.queries.js';
import { sentenceOf } from '../../app/api.js';
import { useCommands } from '../../app/commands.js';
import { Unavailable } from '../../app/problem.js';
import { useMayChange } from '../../app/session.js';
import { Confirm } from '../../components/confirm.js';
import { Menu } from '../../components/menu.js';
import { Pill } from '../../components/notice.js';
import { Page } from '../../components/page.js';
import { showToast } from '../../components/toast.js';
import { DayOfYear } from '../../components/time.js';
import { type Account, type GivenStatus, useAccountChanges } from './account.queries.js';
import { RangePicker, Statistics, useRange } from '../overview/statistics.js';
import { statisticsQuery } from '../overview/statistics.queries.js';
import { CloseAccount, Remains } from './close-account.js';
import { Credentials, LastUse } from './credentials.js';

/** An operator's other views of an account. */
const PAGES = {
  subscriptions: 'Subscriptions',
  deliveries: 'Deliveries',
  events: 'Events',
  applications: 'Applications',
  audit: 'Audit log',
} as const;

/** How often what remains of an account is read. */
const CLOSING_MS = 2_000;

/** One user, with its credentials. */
export default function AccountPage({ params }: { params: Record<string, string> }) {
  const { data, error } = useQuery({
    ...userQuery(params['id'] ?? ''),
    refetchInterval: ({ state }) => (state.data?.status === 'closing' ? CLOSING_MS : false),
  });
  if (data) return <Shown account={data} />;
  return (
    <Unavailable title="Account" error={error}>
      Go to <Link href="/accounts">all accounts</Link>.
    </Unavailable>
  );
}

function Shown({ account }: { account: Account }) {
  const { id, username, role, status, joinDate, credentials } = account;
  const changes = useAccountChanges(String(id));
  const [isAsked, setIsAsked] = useState(false);
  const [isClosing, setIsClosing] = useState(false);
  const isActive = status === 'active';
  const lastUsedAt = credentials
    .flatMap((one) => one.lastUsedAt ?? [])
    .sort()
    .at(-1);

  function setStatus(next: GivenStatus): void {
    changes.setStatus.mutate(next, {
      onSuccess: () => {
        setIsAsked(false);
        showToast(next === 'locked' ? 'Locked.' : 'Unlocked.');
      },
      // A refused lock is shown in the dialog that asked for it.
      onError: (error) => next === 'active' && showToast(sentenceOf(error), 'bad'),
    });
  }
  function ask(): void {
    changes.setStatus.reset();
    setIsAsked(true);
  }
  function askToClose(): void {
    changes.close.reset();
    setIsClosing(true);
  }
  const change = isActive ? ask : () => setStatus('active');
  const label = isActive ? 'Lock account' : 'Unlock account';
  const isClosed = status === 'closing' || status === 'closed';
  const mayChange = useMayChange() && !isClosed;
  const actions = mayChange
    ? [
        { name: label, run: change, isDangerous: isActive },
        { name: 'Close account', run: askToClose, isDangerous: true },
      ]
    : [];
  useCommands(actions.map(({ name, run }) => ({ name, group: 'Actions', run })));

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
        <>
          <span className="account-pages">
            {Object.entries(PAGES).map(([page, name]) => (
              <Link key={page} href={`/${page}?accountId=${id}`}>
                {name}
              </Link>
            ))}
          </span>
          {mayChange && <Menu label="More actions" items={actions} />}
        </>
      }
    >
      <p className="about">
        <span>id {id}</span>
        <span title={role}>{ROLES[role]}</span>
        <span>
          created <DayOfYear at={joinDate} />
        </span>
        <span>
          {lastUsedAt === undefined ? (
            'never used'
          ) : (
            <>
              last used <LastUse at={lastUsedAt} />
            </>
          )}
        </span>
      </p>
      {account.remains && <Remains remains={account.remains} />}
      {!isClosed && <Credentials account={account} changes={changes} />}
      {role === 'account' && !isClosed && <Activity accountId={String(id)} />}
      {isClosing && (
        <CloseAccount account={account} close={changes.close} onClose={() => setIsClosing(false)} />
      )}
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

/** The attempts of the account. */
function Activity({ accountId }: { accountId: string }) {
  const { data, error } = useQuery(statisticsQuery(useRange(), accountId));
  return <Statistics history={data} error={error} tools={<RangePicker isSmall />} />;
}
