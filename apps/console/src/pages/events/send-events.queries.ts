import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import { answerOf, api, RefusedError } from '../../app/api.js';

/** How far sending has come. */
export interface Progress {
  /** The ids of the events that are sent. */
  sent: readonly string[];
  /** The ids of those that the subscription had been told of before. */
  before: readonly string[];
  /** Why each of the others was refused. */
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
  // Nobody would see the outcome any more.
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
    // Those that were sent are no longer told to nobody.
    onSettled: () => client.invalidateQueries({ queryKey: ['events'] }),
  });
  return { send: mutate, stop, isIdle, isPending, error, progress };
}

/** Sends one event; after a 429, when that is allowed again. */
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

/** Ends early if it is aborted. */
function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms);
    signal.addEventListener('abort', () => resolve());
  });
}
