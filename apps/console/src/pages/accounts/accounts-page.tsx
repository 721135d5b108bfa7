import '../../styles/filter-bar.css';
import './accounts.css';
import { skipToken, useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { Search } from 'lucide-react';
import { useState } from 'react';
import { Link, useSearchParams } from 'wouter';
import { ACCOUNT_COLUMNS } from '../../app/account-columns.js';
import { accountsQuery, userQuery } from '../../app/account.queries.js';
import { accountsLike } from '../../app/account-search.js';
import { useHasDraft } from '../../app/drafts.js';
import { useIsNarrow } from '../../app/media.js';
import { useCommands } from '../../app/palette.js';
import { Problem } from '../../app/problem.js';
import { EmptyState } from '../../components/notice.js';
import { Page } from '../../components/page.js';
import { PagedTable } from '../../components/paged-table.js';
import { PasswordOnce } from '../../components/password-once.js';
import { SkeletonRows } from '../../components/skeleton.js';
import { type Column, Table } from '../../components/table.js';
import { type User, useCreateUser, usersQuery } from './accounts.queries.js';
import { NewAccount } from './new-account.js';

/** All accounts, and a form for a new one. */
export default function AccountsPage() {
  const list = useInfiniteQuery(usersQuery);
  const create = useCreateUser();
  const [isNew, setIsNew] = useState(useHasDraft('New account'));
  const [search] = useSearchParams();
  const wanted = (search.get('search') ?? '').trim();
  const columns = ACCOUNT_COLUMNS[useIsNarrow() ? 'phone' : 'all'];

  function open(): void {
    create.reset();
    setIsNew(true);
  }
  useCommands([{ name: 'New account', group: 'Actions', run: open }]);

  const created = isNew ? undefined : create.data;
  const table = { label: 'Accounts', columns, rowHeight: 41, hrefOf };
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
      <AccountSearch />
      <Problem error={list.error} />
      {wanted === '' ? (
        <PagedTable {...table} list={list} empty={null} />
      ) : (
        <Found {...table} wanted={wanted} />
      )}
    </Page>
  );
}

const hrefOf = ({ id }: User): string => `/accounts/${id}`;
const keyOf = ({ id }: User): string => String(id);

/** Finds as one types; what is searched for is in the address. */
function AccountSearch() {
  const [search, setSearch] = useSearchParams();
  return (
    <search className="account-search search-field">
      <Search size={15} aria-hidden />
      <input
        type="search"
        aria-label="Search accounts"
        placeholder="Name or id"
        autoComplete="off"
        spellCheck={false}
        value={search.get('search') ?? ''}
        onChange={({ target: { value } }) =>
          setSearch(value === '' ? {} : { search: value }, { replace: true })
        }
      />
    </search>
  );
}

/** The accounts whose name or id has a text in it. */
function Found({
  wanted,
  ...table
}: {
  wanted: string;
  label: string;
  columns: readonly Column<User>[];
  rowHeight: number;
  hrefOf: (user: User) => string;
}) {
  const { data, error, isPending } = useQuery(accountsQuery);
  const known = accountsLike(data ?? [], wanted);
  // It may be beyond those that were read.
  const other = useQuery({
    ...userQuery(wanted),
    ...((isPending || known.length > 0) && { queryFn: skipToken }),
  });
  const found = known.length === 0 && other.data ? [other.data] : known;
  if (error) return <Problem error={error} />;
  if (isPending) return <SkeletonRows rowHeight={table.rowHeight} />;
  return (
    <>
      {found.length > 0 ? (
        <Table {...table} rows={found} keyOf={keyOf} />
      ) : (
        !other.isFetching && (
          <EmptyState title="No account is called so.">
            <p>
              Type a part of its name, or its id. <Link href="/accounts">Show all accounts</Link>
            </p>
          </EmptyState>
        )
      )}
      <p className="quiet end" role="status">
        {found.length > 0 && (found.length === 1 ? '1 account' : `${found.length} accounts`)}
      </p>
    </>
  );
}
