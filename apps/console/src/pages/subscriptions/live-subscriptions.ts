import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef } from 'react';
import { useStream } from '../../app/stream.js';
import { type Subscription, type SubscriptionList } from './subscriptions.queries.js';

type Lists = SubscriptionList | Subscription[];

/** Many changes at once are one question. */
const AGAIN_MS = 1_000;

/** Keeps the lists that are shown fresh: known subscriptions change in place, those that lack it are read again. */
export function useLiveSubscriptions(): void {
  const client = useQueryClient();
  const timer = useRef<number>(undefined);
  useEffect(() => () => window.clearTimeout(timer.current), []);
  useStream({
    webhook: (changed) => {
      const lists = client.getQueriesData<Lists>({ queryKey: ['webhooks'], type: 'active' });
      for (const [queryKey, list] of lists) {
        const isKnown = list && rowsOf(list).some(({ id }) => id === changed.id);
        if (isKnown) client.setQueryData<Lists>(queryKey, patched(list, changed));
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

function rowsOf(list: Lists): Subscription[] {
  return Array.isArray(list) ? list : list.pages.flatMap(({ rows }) => rows);
}

function patched(list: Lists, changed: Subscription): Lists {
  const patch = (rows: Subscription[]) =>
    rows.map((row) => (row.id === changed.id ? changed : row));
  if (Array.isArray(list)) return patch(list);
  return { ...list, pages: list.pages.map((page) => ({ ...page, rows: patch(page.rows) })) };
}
