import { useMutation, useQueryClient } from '@tanstack/react-query';
import { answerOf, api, RefusedError, sentenceOf } from '../../app/api.js';
import { localText } from '../../components/time.js';
import { showToast } from '../../components/toast.js';
import type { Delivery } from './deliveries.queries.js';
import { canBeSent, isFinished } from './states.js';

/** Sends deliveries now, one after the other, and reports the outcome. */
export function useSendNow() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: async (deliveries: readonly Delivery[]) => {
      const sent: Delivery[] = [];
      const refused: string[] = [];
      for (const delivery of deliveries) {
        try {
          await sendNow(delivery);
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
 * Sends one delivery. Only finished deliveries can be redelivered, so a waiting one is cancelled first. @throws
 * RefusedError
 */
async function sendNow({ id, state }: Delivery): Promise<void> {
  const params = { path: { id } };
  const redeliver = () => answerOf(api.POST('/v1/deliveries/{id}/redeliver', { params }));
  if (isFinished(state)) {
    await redeliver();
    return;
  }
  // The stream does not report the start of an attempt.
  if (!canBeSent(await answerOf(api.GET('/v1/deliveries/{id}', { params })))) {
    throw new NotSentError('An attempt is under way. Wait until it has ended.');
  }
  await unlessFinished(answerOf(api.POST('/v1/deliveries/{id}/cancel', { params })));
  try {
    await redeliver();
  } catch (error) {
    const isUnderWay = codeOf(error) === 'delivery_not_finished';
    const reason = isUnderWay ? 'An attempt had just begun.' : sentenceOf(error);
    throw new NotSentError(`Cancelled, but not sent again: ${reason} Redeliver it later.`);
  }
}

/** A waiting delivery was not sent. */
class NotSentError extends RefusedError {
  constructor(override readonly message: string) {
    super(409, undefined);
  }
}

const codeOf = (error: unknown) =>
  error instanceof RefusedError ? error.problem?.code : undefined;

async function unlessFinished(cancelling: Promise<unknown>): Promise<void> {
  try {
    await cancelling;
  } catch (error) {
    if (codeOf(error) !== 'delivery_finished') throw error;
  }
}

/** When each delivery is sent, as the end of a sentence. All of one subscription share it. */
async function timesOf(deliveries: readonly Delivery[]): Promise<string[]> {
  const times = new Map<string, string>();
  for (const { id, webhookId } of deliveries) {
    if (!times.has(webhookId)) times.set(webhookId, await timeOf(id));
  }
  return deliveries.map(({ webhookId }) => times.get(webhookId)!);
}

async function timeOf(id: string): Promise<string> {
  const call = api.GET('/v1/deliveries/{id}', { params: { path: { id } } });
  const { state, nextAttemptAt } = await answerOf(call);
  if (state !== 'parked') return 'now.';
  if (nextAttemptAt === undefined) return 'when the subscription is resumed.';
  return (
    `after ${localText(nextAttemptAt)}, because the subscription is on hold until then. ` +
    'If its circuit is open, a successful test closes it.'
  );
}

function countsOf(texts: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const text of texts) counts.set(text, (counts.get(text) ?? 0) + 1);
  return counts;
}
