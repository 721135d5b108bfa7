import type { InfiniteData, UseInfiniteQueryResult } from '@tanstack/react-query';
import { type ReactNode, useCallback } from 'react';
import { type SearchedPage, SearchProgress, useSearch } from './search-progress.js';
import { SkeletonRows } from './skeleton.js';
import type { Sorting } from './sorting.js';
import { type Column, type Selection, Table } from './table.js';

export interface PagedTableProps<Row> {
  list: UseInfiniteQueryResult<InfiniteData<SearchedPage<Row>>>;
  /** The name of the rows, such as `Events`. */
  label: string;
  hrefOf: (row: Row) => string;
  columns: readonly Column<Row>[];
  selection?: Selection<Row> | undefined;
  sorting?: Sorting;
  rowHeight?: number;
  openRow?: string | undefined;
  onOpen?: ((row: Row) => void) | undefined;
  /** Replaces the table if there are no rows. */
  empty: ReactNode;
}

/** A table that loads the next page as its end comes near, and says when all rows are loaded. */
export function PagedTable<Row extends { id: string | number }>({
  list,
  empty,
  ...table
}: PagedTableProps<Row>) {
  const rows = list.data?.pages.flatMap((page) => page.rows) ?? [];
  const { hasNextPage, isFetching, fetchNextPage } = list;
  const search = useSearch(list, rows.length);
  const { isSearch, isRunning, findMore } = search;
  const loadMore = useCallback(() => {
    if (isSearch) findMore();
    else if (hasNextPage && !isFetching) void fetchNextPage();
  }, [isSearch, findMore, hasNextPage, isFetching, fetchNextPage]);
  const isEmpty = rows.length === 0;
  return (
    <>
      {isEmpty && list.isPending && <SkeletonRows rowHeight={table.rowHeight ?? 60} />}
      {!isEmpty && (
        <Table
          {...table}
          rows={rows}
          keyOf={keyOf}
          onEnd={loadMore}
          isOutdated={list.isPlaceholderData}
        />
      )}
      {list.data && isEmpty && !hasNextPage && empty}
      <p className="quiet end" role="status">
        {isRunning
          ? 'Searching …'
          : !list.isPending &&
            endOf(rows.length, table.label.toLowerCase(), hasNextPage, isFetching)}
      </p>
      {isSearch && <SearchProgress {...search} />}
    </>
  );
}

const keyOf = ({ id }: { id: string | number }): string => String(id);

function endOf(count: number, plural: string, hasMore: boolean, isFetching: boolean): string {
  if (isFetching) return 'Loading …';
  if (hasMore || count === 0) return '';
  const what =
    count === 1 ? plural.replace(/ies\b|s\b/, (end) => (end === 's' ? '' : 'y')) : plural;
  return `${count.toLocaleString('en')} ${what}`;
}
