import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef } from 'react';
import { useStream } from '../../app/stream.js';
import type { Subscription } from './subscriptions.queries.js';

/** Many changes at once are one question. */
const AGAIN_MS = 1_000;

/** Keeps the lists that are shown fresh: known subscriptions change in place, those that lack it are read again. */
export function useLiveSubscriptions(): void {
  const client = useQueryClient();
  const timer = useRef<number>(undefined);
  useEffect(() => () => window.clearTimeout(timer.current), []);
  useStream({
    webhook: (changed) => {
      const lists = client.getQueriesData<Subscription[]>({
        queryKey: ['webhooks'],
        type: 'active',
      });
      for (const [queryKey, list] of lists) {
        const isKnown = list?.some(({ id }) => id === changed.id);
        if (list && isKnown) client.setQueryData<Subscription[]>(queryKey, patched(list, changed));
        // What is being read may be older than the change.
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

/** What the stream tells has no activity: it stays as it was read. */
function patched(list: readonly Subscription[], changed: Subscription): Subscription[] {
  return list.map(({ activity, ...row }) => ({
    ...(row.id === changed.id ? changed : row),
    ...(activity && { activity }),
  }));
}
