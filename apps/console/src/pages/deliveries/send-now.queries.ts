import { useMutation, useQueryClient } from '@tanstack/react-query';
import { answerOf, api, RefusedError } from '../../app/api.js';
import { localText } from '../../components/time.js';
import { showToast } from '../../components/toast.js';
import type { Delivery } from './deliveries.queries.js';
import { isFinished } from '../../states/delivery-state.js';

/** Sends deliveries one after the other, finished ones again and waiting ones now, and reports the outcome. */
export function useSendNow() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: async (deliveries: readonly Delivery[]) => {
      const sent: Delivery[] = [];
      const refused: string[] = [];
      for (const delivery of deliveries) {
        try {
          const params = { path: { id: delivery.id } };
          await answerOf(api.POST('/v1/deliveries/{id}/send', { params }));
          sent.push(delivery);
        } catch (error) {
          if (!(error instanceof RefusedError) || error.status === 401) throw error;
          refused.push(error.message);
        }
      }
      return { times: await timesOf(sent), refused };
    },
    onSuccess: ({ times, refused }) => {
      for (const [time, count] of countsOf(times)) {
        showToast(`Sending ${count === 1 ? '1 delivery' : `${count} deliveries`} ${time}`);
      }
      for (const [reason, count] of countsOf(refused)) {
        showToast(count === 1 ? reason : `${count} were not sent. ${reason}`, 'bad');
      }
    },
    onError: () => showToast('The server did not answer. Try again.', 'bad'),
    onSettled: (_result, _error, deliveries) =>
      Promise.all(
        deliveries.map(({ id }) => client.invalidateQueries({ queryKey: ['delivery', id] })),
      ),
  });
}

/**
 * When each delivery is sent, as the end of a sentence: one that waits at once, and a finished one as its subscription
 * allows, which all of one subscription share.
 */
async function timesOf(deliveries: readonly Delivery[]): Promise<string[]> {
  const times = new Map<string, string>();
  for (const { id, webhookId, state } of deliveries) {
    if (isFinished(state) && !times.has(webhookId)) times.set(webhookId, await timeOf(id));
  }
  return deliveries.map(({ webhookId, state }) =>
    isFinished(state) ? times.get(webhookId)! : 'now.',
  );
}

async function timeOf(id: string): Promise<string> {
  const call = api.GET('/v1/deliveries/{id}', { params: { path: { id } } });
  const { state, nextAttemptAt } = await answerOf(call);
  if (state !== 'parked') return 'again.';
  if (nextAttemptAt === undefined) return 'again when the subscription is resumed.';
  return (
    `again after ${localText(nextAttemptAt)}, because its subscription waits until then. ` +
    'If its circuit is open, a successful test closes it.'
  );
}

function countsOf(texts: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const text of texts) counts.set(text, (counts.get(text) ?? 0) + 1);
  return counts;
}
