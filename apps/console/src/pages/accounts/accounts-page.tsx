import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { Link } from 'wouter';
import { ACCOUNT_COLUMNS } from '../../app/account-columns.js';
import { accountsQuery } from '../../app/account.queries.js';
import { AccountSearch, FoundAccounts, useWantedAccount } from '../../app/found-accounts.js';
import { useHasDraft } from '../../app/drafts.js';
import { useIsNarrow } from '../../app/media.js';
import { useCommands } from '../../app/commands.js';
import { Problem } from '../../app/problem.js';
import { Refresh } from '../../app/refresh.js';
import { useMayChange } from '../../app/session.js';
import { Page } from '../../components/page.js';
import { PagedTable } from '../../components/paged-table.js';
import { ShownOnce } from '../../components/shown-once.js';
import { type User, useCreateUser, usersQuery } from './accounts.queries.js';
import { NewAccount } from './new-account.js';

/** All accounts, and a form for a new one. */
export default function AccountsPage() {
  const list = useInfiniteQuery(usersQuery);
  const create = useCreateUser();
  const [isNew, setIsNew] = useState(useHasDraft('New account'));
  const wanted = useWantedAccount();
  const all = useQuery({ ...accountsQuery, enabled: wanted !== '' });
  const columns = ACCOUNT_COLUMNS[useIsNarrow() ? 'phone' : 'all'];

  function open(): void {
    create.reset();
    setIsNew(true);
  }
  const mayChange = useMayChange();
  useCommands(mayChange ? [{ name: 'New account', group: 'Actions', run: open }] : []);

  const created = isNew ? undefined : create.data;
  const table = { label: 'Accounts', columns, rowHeight: 41, hrefOf };
  return (
    <Page
      title="Accounts"
      state={<Refresh list={wanted === '' ? list : all} />}
      actions={
        mayChange && (
          <button type="button" className="primary" onClick={open}>
            New account
          </button>
        )
      }
    >
      {created && (
        <ShownOnce name="password" secret={created.password} onDone={create.reset}>
          The account{' '}
          <Link href={`/accounts/${created.id}`}>
            <bdi>{created.username}</bdi>
          </Link>{' '}
          was created.
        </ShownOnce>
      )}
      {mayChange && isNew && <NewAccount create={create} onClose={() => setIsNew(false)} />}
      <AccountSearch />
      <Problem error={list.error} />
      {wanted === '' ? (
        <PagedTable {...table} list={list} empty={null} />
      ) : (
        <FoundAccounts {...table} wanted={wanted} />
      )}
    </Page>
  );
}

const hrefOf = ({ id }: User): string => `/accounts/${id}`;
