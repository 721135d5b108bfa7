import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef } from 'react';
import { useCustomer } from '../../app/account.js';
import { useStream } from '../../app/stream.js';
import type { Subscription } from './subscriptions.queries.js';

/** Many changes cause one fetch. */
const AGAIN_MS = 1_000;

/** Keeps the visible lists fresh: changes known subscriptions in place, and refetches lists that lack one. */
export function useLiveSubscriptions(): void {
  const client = useQueryClient();
  const customer = useCustomer();
  const timer = useRef<number>(undefined);
  useEffect(() => () => window.clearTimeout(timer.current), []);
  useStream({
    webhook: (changed) => {
      // The stream is of the user's own account.
      if (customer !== undefined) return;
      const lists = client.getQueriesData<Subscription[]>({
        queryKey: ['webhooks'],
        type: 'active',
      });
      for (const [queryKey, list] of lists) {
        const isKnown = list?.some(({ id }) => id === changed.id);
        if (list && isKnown) client.setQueryData<Subscription[]>(queryKey, patched(list, changed));
        // A fetch under way may return older data.
        if (!isKnown || client.isFetching({ queryKey, exact: true }) > 0) {
          timer.current ??= window.setTimeout(() => {
            timer.current = undefined;
            void client.invalidateQueries({ queryKey: ['webhooks'] });
          }, AGAIN_MS);
        }
      }
    },
  });
}

/** The stream does not send the activity, so keep what was fetched. */
function patched(list: readonly Subscription[], changed: Subscription): Subscription[] {
  return list.map(({ activity, ...row }) => ({
    ...(row.id === changed.id ? changed : row),
    ...(activity && { activity }),
  }));
}
