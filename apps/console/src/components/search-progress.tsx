import type { InfiniteData, UseInfiniteQueryResult } from '@tanstack/react-query';
import { useCallback, useEffect, useState } from 'react';
import { LocalTime } from './time.js';

/** A page of a list. The API reads a limited number of rows for one, so it may end before it is full. */
export interface SearchedPage<Row> {
  rows: Row[];
  /** How far back the API has searched, if the page ends at that limit. */
  searchedTo?: string | undefined;
}

/** A search that finds little goes on by itself for this many pages: about a million rows. */
const MOST_PAGES = 100;
/** This many rows are enough until the user scrolls to them. They fill a large screen. */
const ENOUGH_ROWS = 50;

const FIRST = { rows: ENOUGH_ROWS, pages: MOST_PAGES };

/** Goes on with a list whose last page ended at the limit, until enough rows are found. */
export function useSearch<Row>(
  list: UseInfiniteQueryResult<InfiniteData<SearchedPage<Row>>>,
  rows: number,
) {
  const { data, hasNextPage, isPending, isFetching, isError, fetchNextPage } = list;
  const [until, setUntil] = useState(FIRST);
  // Other filters begin another search.
  if (isPending && until !== FIRST) setUntil(FIRST);
  const pages = data?.pages.length ?? 0;
  const searchedTo = data?.pages.at(-1)?.searchedTo;
  const isSearch = hasNextPage && searchedTo !== undefined;
  const isRunning = isSearch && !isError && rows < until.rows && pages < until.pages;
  useEffect(() => {
    if (isRunning && !isFetching) void fetchNextPage();
  }, [isRunning, isFetching, fetchNextPage]);
  return {
    /** Whether there is more to search. */
    isSearch,
    searchedTo,
    isRunning,
    /** The end of the rows is near: goes on, unless it was stopped. */
    findMore: useCallback(() => {
      setUntil((before) => ({ ...before, rows: rows + ENOUGH_ROWS }));
    }, [rows]),
    stop: () => setUntil((before) => ({ ...before, pages })),
    goOn: () => {
      setUntil({ rows: rows + ENOUGH_ROWS, pages: pages + MOST_PAGES });
      // After an error, nothing else does.
      void fetchNextPage();
    },
  };
}

/** Says how far a search has come, and stops it or goes on. */
export function SearchProgress({
  searchedTo = '',
  isRunning,
  stop,
  goOn,
}: Pick<ReturnType<typeof useSearch>, 'searchedTo' | 'isRunning' | 'stop' | 'goOn'>) {
  return (
    <p className="searched quiet">
      <span>
        Searched back to <LocalTime at={searchedTo} />
      </span>
      <button type="button" className="small" onClick={isRunning ? stop : goOn}>
        {isRunning ? 'Stop' : 'Search further'}
      </button>
    </p>
  );
}
