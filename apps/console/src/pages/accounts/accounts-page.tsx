import { useInfiniteQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { Link } from 'wouter';
import { useHasDraft } from '../../app/drafts.js';
import { useCommands } from '../../app/palette.js';
import { Problem } from '../../app/problem.js';
import { Pill } from '../../components/notice.js';
import { Page } from '../../components/page.js';
import { PagedTable } from '../../components/paged-table.js';
import { PasswordOnce } from '../../components/password-once.js';
import type { Column } from '../../components/table.js';
import { LocalTime } from '../../components/time.js';
import { type User, useCreateUser, usersQuery } from './accounts.queries.js';
import { NewAccount } from './new-account.js';

const COLUMNS: readonly Column<User>[] = [
  {
    name: 'Account',
    width: 'minmax(0, 2fr)',
    cell: ({ id, username }) => (
      <>
        <bdi className="strong">{username}</bdi> <span className="quiet">{id}</span>
      </>
    ),
  },
  {
    name: 'State',
    width: 'minmax(0, 1fr)',
    cell: ({ status, role }) => (
      <>
        <Pill tone={status === 'active' ? 'good' : 'bad'}>{status}</Pill>
        {role === 'platform' && <span className="quiet"> platform</span>}
      </>
    ),
  },
  {
    name: 'Since',
    width: 'minmax(0, 1fr)',
    cell: ({ joinDate }) => (
      <span className="quiet">
        <LocalTime at={joinDate} />
      </span>
    ),
  },
];

/** All users, and a form for a new one. */
export default function AccountsPage() {
  const list = useInfiniteQuery(usersQuery);
  const create = useCreateUser();
  const [isNew, setIsNew] = useState(useHasDraft('New account'));

  function open(): void {
    create.reset();
    setIsNew(true);
  }
  useCommands([{ name: 'New account', group: 'Actions', run: open }]);

  const created = isNew ? undefined : create.data;
  return (
    <Page
      title="Accounts"
      actions={
        <button type="button" className="primary" onClick={open}>
          New account
        </button>
      }
    >
      {created && (
        <PasswordOnce password={created.password} onDone={create.reset}>
          The account{' '}
          <Link href={`/accounts/${created.id}`}>
            <bdi>{created.username}</bdi>
          </Link>{' '}
          was created.
        </PasswordOnce>
      )}
      {isNew && <NewAccount create={create} onClose={() => setIsNew(false)} />}
      <Problem error={list.error} />
      <PagedTable
        list={list}
        label="Accounts"
        hrefOf={({ id }) => `/accounts/${id}`}
        columns={COLUMNS}
        empty={null}
      />
    </Page>
  );
}
