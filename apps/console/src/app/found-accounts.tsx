import '../styles/filter-bar.css';
import './found-accounts.css';
import { skipToken, useQuery } from '@tanstack/react-query';
import { Search } from 'lucide-react';
import { Link, useLocation, useSearchParams } from 'wouter';
import { EmptyState } from '../components/notice.js';
import { SkeletonRows } from '../components/skeleton.js';
import { type Column, Table } from '../components/table.js';
import { accountsQuery, userQuery } from './account.queries.js';
import { accountsLike } from './account-search.js';
import type { Schemas } from './api.js';
import { Problem } from './problem.js';

type User = Schemas['User'];

/** The search text in the address. */
export function useWantedAccount(): string {
  const [search] = useSearchParams();
  return (search.get('search') ?? '').trim();
}

/** Searches while the user types; the text is in the address. */
export function AccountSearch() {
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

const keyOf = ({ id }: User): string => String(id);

/** The accounts whose name or id contains the search text; without one, all accounts. */
export function FoundAccounts({
  wanted,
  ...table
}: {
  wanted: string;
  label: string;
  columns: readonly Column<User>[];
  rowHeight: number;
  hrefOf: (user: User) => string;
}) {
  const [location] = useLocation();
  const { data, error, isPending } = useQuery(accountsQuery);
  const known = accountsLike(data ?? [], wanted);
  // The account may not be among those that were loaded.
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
          <EmptyState title="No account has this name.">
            <p>
              Type part of its name, or its id. <Link href={location}>Show all accounts</Link>
            </p>
          </EmptyState>
        )
      )}
      <p className="quiet end" role="status">
        {found.length > 0 &&
          (found.length === 1 ? '1 account' : `${found.length.toLocaleString('en')} accounts`)}
      </p>
    </>
  );
}
