import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useEffectEvent, useRef, useState } from 'react';
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

/**
 * Keeps a list of deliveries fresh. Known deliveries change in place. New ones are inserted if the list is at its top;
 * otherwise they are held back until {@link show}, so that nothing moves while the user reads.
 */
export function useLiveDeliveries(filters: DeliveryFilters): {
  /** How many new deliveries are held back. */
  held: number;
  show: () => void;
} {
  const client = useQueryClient();
  const [held, setHeld] = useState<readonly Delivery[]>([]);
  const came = useRef(new Map<string, Delivery>());
  const { queryKey } = deliveriesQuery(filters);

  const flush = useEffectEvent(() => {
    if (came.current.size === 0) return;
    const changes = came.current;
    // A fetch under way may return older data and replaces the list, so keep the changes for after it.
    if (client.isFetching({ queryKey, exact: true }) === 0) came.current = new Map();
    const list = client.getQueryData<DeliveryList>(queryKey);
    if (!list) return;
    const waiting = held.map((one) => changes.get(one.id) ?? one);
    const arrivals = [...arrivalsOf(list, waiting, changes.values(), filters), ...waiting];
    const isAtTop = window.scrollY < 4;
    const next = patched(list, changes);
    client.setQueryData<DeliveryList>(queryKey, isAtTop ? prepended(next, arrivals) : next);
    setHeld(isAtTop ? [] : arrivals);
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

  function show(): void {
    client.setQueryData<DeliveryList>(queryKey, (list) => list && prepended(list, held));
    setHeld([]);
    window.scrollTo({ top: 0 });
  }
  return { held: held.length, show };
}
