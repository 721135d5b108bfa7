import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef } from 'react';
import type { Subscription } from './names.queries.js';
import { useStream } from './stream.js';

/** Many changes cause one fetch. */
const AGAIN_MS = 1_000;

/**
 * Keeps the lists of the user's own subscriptions fresh: changes known subscriptions in place, and refetches lists that
 * lack one, or in which one was untested.
 */
export function useLiveSubscriptions(): void {
  const client = useQueryClient();
  const timer = useRef<number>(undefined);
  useEffect(() => () => window.clearTimeout(timer.current), []);
  useStream({
    webhook: (changed) => {
      const lists = client.getQueriesData<Subscription[]>({
        queryKey: ['webhooks'],
        type: 'active',
        predicate: ({ queryKey }) => !isOfCustomer(queryKey),
      });
      for (const [queryKey, list] of lists) {
        const known = list?.find(({ id }) => id === changed.id);
        if (list && known) client.setQueryData<Subscription[]>(queryKey, patched(list, changed));
        const wasTested = known?.activity?.lastSuccessAt !== undefined;
        // A fetch under way may return older data.
        if (wasTested && client.isFetching({ queryKey, exact: true }) === 0) continue;
        timer.current ??= window.setTimeout(() => {
          timer.current = undefined;
          void client.invalidateQueries({
            queryKey: ['webhooks'],
            predicate: (query) => !isOfCustomer(query.queryKey),
          });
        }, AGAIN_MS);
      }
    },
  });
}

/** Whether it is a list of a customer, which an operator looks at; the stream is of the user's own account. */
function isOfCustomer(queryKey: readonly unknown[]): boolean {
  return (queryKey.at(-1) as { customer?: string }).customer !== undefined;
}

/** The stream does not send the activity, so keep what was fetched. */
function patched(list: readonly Subscription[], changed: Subscription): Subscription[] {
  return list.map(({ activity, ...row }) => ({
    ...(row.id === changed.id ? changed : row),
    ...(activity && { activity }),
  }));
}
