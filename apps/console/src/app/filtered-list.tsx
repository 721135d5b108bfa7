import type { ReactNode } from 'react';
import { type Filter, FilterBar } from '../components/filter-bar.js';
import { EmptyState } from '../components/notice.js';
import { PagedTable, type PagedTableProps } from '../components/paged-table.js';
import { faultsOf } from './api.js';
import { Problem } from './problem.js';

/** A list by the filters in the address, with what is wrong with them. */
export function FilteredList<Row extends { id: string }>({
  filters,
  empty,
  children,
  ...table
}: PagedTableProps<Row> & {
  filters: readonly Filter[];
  /** What stands in place of the list if there is nothing at all. If there is, absent: nothing matches. */
  empty: ReactNode;
  /** What can be done with the list. */
  children?: ReactNode;
}) {
  const { error, isFetching, refetch } = table.list;
  const faults = faultsOf(error);
  return (
    <>
      <FilterBar filters={filters} errors={faults} />
      <div className="tools">
        <button type="button" onClick={() => void refetch()} disabled={isFetching}>
          Refresh
        </button>
        {children}
      </div>
      {Object.keys(faults).length === 0 && <Problem error={error} />}
      <PagedTable {...table} empty={empty || NO_MATCH} />
    </>
  );
}

const NO_MATCH = (
  <EmptyState title="Nothing matches these filters.">
    <p>Take one of them away, or look further back.</p>
  </EmptyState>
);
