import { useMutation, useQueryClient } from '@tanstack/react-query';
import { sentenceOf } from '../../app/api.js';
import { useUser } from '../../app/session.js';
import { showToast } from '../../components/toast.js';
import { useKeys } from '../deliveries/request-keys.js';
import { type Selected, startReplay } from '../deliveries/send-matching.queries.js';
import { remember } from '../deliveries/started-replays.js';
import { offSinceQuery, put } from './subscription.queries.js';

/** A subscription that the service disabled. */
export interface Disabled {
  id: string;
  disabledAt: string;
}

/** Enables a subscription that the service had disabled. */
export function useEnable(onEnabled: (one: Disabled) => void) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: ({ id }: Disabled) => put(id, '*', JSON.stringify({ enabled: true })),
    onSuccess: (_version, one) => {
      client.setQueryData(offSinceQuery(one.id).queryKey, one.disabledAt);
      onEnabled(one);
    },
    onError: (error) => showToast(sentenceOf(error), 'bad'),
    onSettled: (_version, _error, { id }) =>
      Promise.all([
        client.invalidateQueries({ queryKey: ['webhook', id] }),
        client.invalidateQueries({ queryKey: ['webhooks'] }),
      ]),
  });
}

/** Deliveries that had failed or been cancelled by then are at most this old: retries take days. */
const LOST_MS = 7 * 24 * 3_600_000;

/** What it lost: deliveries that ended without success, and events that came while it was disabled. */
export function lostOf({ id, disabledAt }: Disabled): Record<'again' | 'missed', Selected> {
  const since = new Date(Date.parse(disabledAt) - LOST_MS).toISOString();
  return { again: { lostBy: id, since }, missed: { missedBy: id, since: disabledAt } };
}

/** Sends several selections, and resolves to the ids of the replays. After an error, nothing starts twice. */
export function useSendAll() {
  const { userId } = useUser();
  const client = useQueryClient();
  const keyOf = useKeys();
  return useMutation({
    mutationFn: async (all: readonly Selected[]) => {
      const ids: string[] = [];
      for (const selected of all) {
        const id = await startReplay(selected, keyOf(selected));
        remember({ userId, id });
        ids.push(id);
      }
      return ids;
    },
    onSuccess: (_ids, all) => {
      for (const { missedBy: id } of all) {
        // Its page offered them, too.
        if (id !== undefined) client.setQueryData(offSinceQuery(id).queryKey, null);
      }
    },
  });
}
