import { idOf } from '#libs/client';
import { queryOptions, useMutation, useQueryClient } from '@tanstack/react-query';
import { answerOf, api, RefusedError, type Schemas } from '../../app/api.js';

const POLL_MS = 1_000;

/** What is erased. The text is in no query's key, because those are kept. */
interface Erased {
  contains: string;
  /** By default, the user's own account. */
  accountId: string | undefined;
}

const bodyOf = ({ contains, accountId }: Erased): Schemas['ErasureRequest'] => ({
  contains,
  ...(accountId !== undefined && { accountId }),
});

/** Counts what an erasure would erase. */
export function useCount() {
  return useMutation({
    gcTime: 0,
    mutationFn: async (erased: Erased) => {
      const body = { ...bodyOf(erased), dryRun: true };
      return (await answerOf(api.POST('/v1/erasures', { body }))) as Schemas['ErasureCount'];
    },
  });
}

/** Starts an erasure, and returns its id. */
export function useErase() {
  return useMutation({
    gcTime: 0,
    mutationFn: async (erased: Erased) =>
      idOf(
        (await answerOf(api.POST('/v1/erasures', { body: bodyOf(erased) }))) as Schemas['Address'],
      ),
  });
}

/** An erasure, refetched while it runs. */
export const erasureQuery = (id: string) =>
  queryOptions({
    queryKey: ['erasure', id],
    queryFn: ({ signal }) =>
      answerOf(api.GET('/v1/erasures/{id}', { params: { path: { id } }, signal })),
    refetchInterval: ({ state: { data, error } }) =>
      data?.state === 'completed' || error instanceof RefusedError ? false : POLL_MS,
  });

/** Reloads what an erasure has changed. */
export function useReloadErased(): () => void {
  const client = useQueryClient();
  return () => void client.invalidateQueries({ predicate: isErased });
}

const isErased = ({ queryKey }: { queryKey: readonly unknown[] }): boolean =>
  ['events', 'event', 'deliveries', 'delivery'].includes(String(queryKey[0]));
