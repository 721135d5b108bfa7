import {
  type InvalidateOptions,
  type InvalidateQueryFilters,
  type Query,
  QueryClient,
  type QueryKey,
} from '@tanstack/react-query';
import { RefusedError } from '#libs/client';

/** Refusals do not change by repetition; a server that is away comes back. */
function isWorthRetrying(failures: number, error: Error): boolean {
  const isRefusal = error instanceof RefusedError && error.status < 500;
  return !isRefusal && failures < 2;
}

/**
 * TanStack Query reads again what is invalidated, unless it is being read for the first time: that answer
 * counts as fresh, although it may be older than what was told since. Here it is read again afterwards.
 */
class ConsoleQueryClient extends QueryClient {
  /** What was invalidated during its first read. */
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

/** What was read of the API. The stream keeps fresh what is shown; what is shown again is read again. */
export const queryClient = new ConsoleQueryClient({
  defaultOptions: {
    queries: { staleTime: 0, retry: isWorthRetrying, refetchOnWindowFocus: false },
  },
});
