import type { ReactNode } from 'react';
import { Link, useLocation } from 'wouter';
import { FilterBar, type FilterBarProps } from '../components/filter-bar.js';
import { NO_MATCH } from '../components/notice.js';
import { PagedTable, type PagedTableProps } from '../components/paged-table.js';
import { faultsOf, otherProblem, RefusedError } from './api.js';

/** A list that is filtered by the address. It shows which filters are wrong. */
export function FilteredList<Row extends { id: string }>({
  filters,
  search,
  empty,
  note,
  beside,
  children,
  ...table
}: PagedTableProps<Row> & {
  filters: FilterBarProps['filters'];
  search?: FilterBarProps['search'];
  /** Replaces the list if there are no rows without filters either. Absent if there are: then nothing matches. */
  empty: ReactNode;
  /** Above the rows. */
  note?: ReactNode;
  /** The open row's panel, beside the list. */
  beside?: ReactNode;
  /** Buttons for the list. */
  children?: ReactNode;
}) {
  const { error } = table.list;
  const [location] = useLocation();
  const names = filters.map(({ name }) => name);
  return (
    <>
      <FilterBar filters={filters} errors={faultsOf(error)} search={search}>
        {children}
      </FilterBar>
      {error && (
        <p className="problem" role="alert">
          {unknownFilter(error, names) ?? otherProblem(error, names) ?? 'See the filters above.'}{' '}
          {error instanceof RefusedError && <Link href={location}>Clear the filters</Link>}
        </p>
      )}
      {(!error || table.list.data) && (
        <div className={beside ? 'with-panel' : undefined}>
          <div>
            {note}
            <PagedTable {...table} empty={empty || NO_MATCH} />
          </div>
          {beside}
        </div>
      )}
    </>
  );
}

/** The filters in the address that this list does not know; undefined if there are none. */
function unknownFilter(error: Error, names: readonly string[]): string | undefined {
  const unknown = Object.keys(faultsOf(error)).filter((name) => !names.includes(name));
  return unknown.length === 0
    ? undefined
    : `The address has a filter that does not work here: ${unknown.join(', ')}.`;
}
