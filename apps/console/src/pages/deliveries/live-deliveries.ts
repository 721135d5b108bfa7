import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useEffectEvent, useRef } from 'react';
import { useStream } from '../../app/stream.js';
import {
  deliveriesQuery,
  type Delivery,
  type DeliveryFilters,
  type DeliveryList,
} from './deliveries.queries.js';
import { arrivalsOf, hasUnfinishedOf, patched, prepended } from './live-list.js';

/** Renders many changes at once. */
const FLUSH_MS = 250;

/** Keeps a list of deliveries fresh: known ones change in place, and new ones come first. */
export function useLiveDeliveries(filters: DeliveryFilters): void {
  const client = useQueryClient();
  const came = useRef(new Map<string, Delivery>());
  const { queryKey } = deliveriesQuery(filters);

  const flush = useEffectEvent(() => {
    if (came.current.size === 0) return;
    const changes = came.current;
    // A fetch under way may return older data and replaces the list, so keep the changes for after it.
    if (client.isFetching({ queryKey, exact: true }) === 0) came.current = new Map();
    client.setQueryData<DeliveryList>(
      queryKey,
      (list) =>
        list && prepended(patched(list, changes), arrivalsOf(list, changes.values(), filters)),
    );
  });
  useEffect(() => {
    const timer = setInterval(() => flush(), FLUSH_MS);
    return () => clearInterval(timer);
  }, []);
  useStream({
    delivery: (delivery) => void came.current.set(delivery.id, delivery),
    webhook: ({ id }) => {
      // The stream does not report each delivery that this change cancels, parks or releases.
      const list = client.getQueryData<DeliveryList>(queryKey);
      if (list && hasUnfinishedOf(list, id)) void client.invalidateQueries({ queryKey });
    },
  });
}
