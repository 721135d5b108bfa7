import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import { answerOf, api, RefusedError } from '../../app/api.js';

/** The progress of sending. */
export interface Progress {
  /** The ids of the events sent. */
  sent: readonly string[];
  /** The ids of the events that had already been sent to the subscription. */
  before: readonly string[];
  /** The reason of each refusal. */
  refused: readonly string[];
  /** How long the rate limit makes it wait, in seconds; undefined while it does not. */
  waitS?: number | undefined;
}

const NOTHING: Progress = { sent: [], before: [], refused: [] };

/** Sends events to a subscription, one after the other, until all are sent or {@link stop} is called. */
export function useSendEvents() {
  const client = useQueryClient();
  const [progress, setProgress] = useState(NOTHING);
  const stopping = useRef<AbortController>(null);
  const stop = () => stopping.current?.abort();
  // Stop on unmount: nobody would see the outcome.
  useEffect(() => () => stopping.current?.abort(), []);

  const { mutate, isIdle, isPending, error } = useMutation({
    mutationFn: async ({ ids, webhookId }: { ids: readonly string[]; webhookId: string }) => {
      const { signal } = (stopping.current = new AbortController());
      let now = NOTHING;
      const show = (next: Progress) => setProgress((now = next));
      for (const id of ids) {
        const outcome = await send(id, webhookId, signal, (waitS) => show({ ...now, waitS }));
        if (outcome === 'stopped') return;
        if (outcome === 'sent') show({ ...now, sent: [...now.sent, id] });
        else if (outcome === 'before') show({ ...now, before: [...now.before, id] });
        else show({ ...now, refused: [...now.refused, outcome.reason] });
      }
    },
    // Sent events no longer count as missed.
    onSettled: () => client.invalidateQueries({ queryKey: ['events'] }),
  });
  return { send: mutate, stop, isIdle, isPending, error, progress };
}

/** Sends one event. After a 429, it waits until the rate limit allows the next. */
async function send(
  id: string,
  webhookId: string,
  signal: AbortSignal,
  onWait: (seconds: number | undefined) => void,
): Promise<'sent' | 'before' | 'stopped' | { reason: string }> {
  const params = { path: { id } };
  const call = api.POST('/v1/events/{id}/deliveries', { params, body: { webhookId }, signal });
  try {
    await answerOf(call);
    return 'sent';
  } catch (error) {
    if (signal.aborted) return 'stopped';
    if (!(error instanceof RefusedError) || error.status === 401) throw error;
    if (error.problem?.code === 'delivery_exists') return 'before';
    if (error.status !== 429) return { reason: error.message };
  }
  const seconds = Number((await call).response.headers.get('Retry-After') ?? 1);
  onWait(seconds);
  await pause(seconds * 1_000, signal);
  onWait(undefined);
  return send(id, webhookId, signal, onWait);
}

/** Returns early if it is aborted. */
function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms);
    signal.addEventListener('abort', () => resolve());
  });
}
