import {
  type InvalidateOptions,
  type InvalidateQueryFilters,
  type Query,
  QueryClient,
  type QueryKey,
} from '@tanstack/react-query';
import { RefusedError } from '#libs/client';
import { SilenceError } from './fetch-in-time.js';

/** Retrying does not change a refusal; a server that is down may come back. One that was silent was given its time. */
function isWorthRetrying(failures: number, error: Error): boolean {
  const isRefusal = error instanceof RefusedError && error.status < 500;
  return !isRefusal && !(error instanceof SilenceError) && failures < 2;
}

/**
 * TanStack Query refetches invalidated queries, except those being fetched for the first time: it takes that answer as
 * fresh although it may predate the invalidation. Here such a query is fetched again.
 */
class ConsoleQueryClient extends QueryClient {
  /** Queries that were invalidated during their first fetch. */
  private readonly outdated = new Set<Query>();

  override async invalidateQueries<Key extends QueryKey = QueryKey>(
    filters?: InvalidateQueryFilters<Key>,
    options?: InvalidateOptions,
  ): Promise<void> {
    const firstReads = this.getQueryCache().findAll(filters).filter(isReadForTheFirstTime);
    for (const query of firstReads) this.outdated.add(query);
    await super.invalidateQueries(filters, options);
    const again = firstReads.filter((query) => this.outdated.delete(query));
    await Promise.all(
      again.map(({ queryKey }) => super.invalidateQueries({ queryKey, exact: true }, options)),
    );
  }
}

const isReadForTheFirstTime = ({ state }: Query) =>
  state.data === undefined && state.fetchStatus === 'fetching';

/**
 * The cache of API answers. The stream keeps the queries on screen fresh; others are fetched again when they are shown.
 */
export const queryClient = new ConsoleQueryClient({
  defaultOptions: {
    queries: {
      staleTime: 0,
      retry: isWorthRetrying,
      refetchOnWindowFocus: false,
      // Without a network, requests fail instead of waiting, and the page says so.
      networkMode: 'always',
    },
    mutations: { networkMode: 'always' },
  },
});
