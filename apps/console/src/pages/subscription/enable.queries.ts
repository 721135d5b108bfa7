import { queryOptions, useMutation, useQueryClient } from '@tanstack/react-query';
import { countOf, type Selected, startReplay } from '../deliveries/send-matching.queries.js';
import { remember } from '../deliveries/started-replays.js';
import { type Missed, readMissed } from '../events/missed.queries.js';
import { offSinceQuery, put, useReadAgain } from './subscription.queries.js';

/** A subscription that the service disabled. */
export interface Disabled {
  id: string;
  disabledAt: string;
}

/** What can be made up for: deliveries that ended without success, and events that came while it was disabled. */
export type Lost = 'deliveries' | 'events';

/** Deliveries that had failed or been cancelled by then are at most this old: retries take days. */
const MADE_UP_MS = 7 * 24 * 3_600_000;
const MOST_EVENTS = 50;

function selectedOf({ id, disabledAt }: Disabled, lost: Lost): Selected {
  if (lost === 'events') return { missedBy: id, since: disabledAt };
  const since = new Date(Date.parse(disabledAt) - MADE_UP_MS).toISOString();
  return { webhookId: id, since };
}

/** How much was lost. The dry run leaves out the deliveries of a disabled subscription, and counts them. */
export const lostQuery = (of: Disabled) =>
  queryOptions({
    queryKey: ['webhook', of.id, 'lost', of.disabledAt],
    gcTime: 0,
    queryFn: async ({ signal }): Promise<{ deliveries: number; events: Missed }> => {
      const range = { missedBy: of.id, since: of.disabledAt };
      const [count, events] = await Promise.all([
        countOf(selectedOf(of, 'deliveries'), signal),
        readMissed(range, MOST_EVENTS, signal),
      ]);
      return { deliveries: count.deliveries + count.leftOut, events };
    },
  });

/**
 * Enables a subscription, then sends what it lost, and resolves to the ids of the replays. To be repeated after an error:
 * nothing starts twice.
 */
export function useEnable(of: Disabled, userId: number, keyOf: (selected: Selected) => string) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: async (all: readonly Lost[]) => {
      await put(of.id, '*', JSON.stringify({ enabled: true }));
      const ids: string[] = [];
      for (const lost of all) {
        const selected = selectedOf(of, lost);
        const id = await startReplay(selected, keyOf(selected));
        remember({ userId, id });
        ids.push(id);
      }
      return ids;
    },
    onSuccess: (_ids, all) => {
      // Its page goes on offering them.
      if (!all.includes('events')) {
        client.setQueryData(offSinceQuery(of.id).queryKey, of.disabledAt);
      }
    },
    onSettled: useReadAgain(of.id),
  });
}
