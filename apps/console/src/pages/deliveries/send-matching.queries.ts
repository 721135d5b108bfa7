import { type Answer, idOf } from '#libs/client';
import { queryOptions, useMutation, useQueryClient } from '@tanstack/react-query';
import { answerOf, api, RefusedError, type Schemas, sentenceOf } from '../../app/api.js';
import { durationText } from '../../components/time-text.js';

/**
 * The deliveries to send, by the filters of their list; with `missedBy`, the events that this subscription has missed, and
 * with `lostBy` its failed and cancelled deliveries. The API validates it.
 */
export type Selected = Record<string, string> & { since: string };

type Started = Schemas['ReplayCount'] | Schemas['Address'];

const POLL_MS = 2_000;

export const DAY_MS = 86_400_000;

/** What would be sent, how much of it goes now, and how many would be left out. */
export const countQuery = (selected: Selected) =>
  queryOptions({
    queryKey: ['send', 'count', selected],
    gcTime: 0,
    queryFn: async ({ signal }) => {
      const answer = await answerOf(post(selected, { dryRun: true }, { signal }));
      return answer as Schemas['ReplayCount'];
    },
  });

function post(
  { missedBy, lostBy, ...selected }: Selected,
  more: { dryRun?: true },
  request: { signal?: AbortSignal; headers?: Record<string, string> },
): Promise<Answer<Started>> {
  const body = { ...(selected as Schemas['SendRequest']), ...more };
  const id = missedBy ?? lostBy;
  if (id === undefined) return api.POST('/v1/deliveries/send', { ...request, body });
  const ofOne = { ...body, ...(missedBy !== undefined && { missed: true }) };
  return api.POST('/v1/webhooks/{id}/replay', {
    ...request,
    ...{ body: ofOne, params: { path: { id } } },
  });
}

/** Starts a replay, once for each key. @throws StartError */
export async function startReplay(selected: Selected, key: string): Promise<string> {
  const call = post(selected, {}, { headers: { 'Idempotency-Key': key } });
  try {
    return idOf((await answerOf(call)) as Schemas['Address']);
  } catch (error) {
    if (!(error instanceof RefusedError)) throw error;
    throw new StartError(error, (await call).response);
  }
}

/** The replay was not started. The message says what to do. */
class StartError extends RefusedError {
  constructor({ status, problem }: RefusedError, { headers }: Response) {
    super(status, problem);
    if (status === 429) {
      const seconds = Number(headers.get('Retry-After') ?? NaN);
      const when = Number.isFinite(seconds) ? `in ${durationText(seconds * 1_000)}` : 'later';
      this.message += ` Try again ${when}.`;
    } else if (problem?.code === 'replay_limit_reached') {
      this.message += ' Wait until one of them has ended, or cancel one.';
    }
  }
}

/** A replay, refetched while it runs and the page is visible, and less often while what it started has not ended. */
export const replayQuery = (id: string) =>
  queryOptions({
    queryKey: ['replay', id],
    queryFn: ({ signal }) =>
      answerOf(api.GET('/v1/replays/{id}', { params: { path: { id } }, signal })),
    refetchInterval: ({ state: { data, error } }) => {
      if (!data) return error instanceof RefusedError ? false : POLL_MS;
      if (data.state === 'running') return POLL_MS;
      return data.now > 0 || Object.keys(data.waiting).length > 0 ? 5 * POLL_MS : false;
    },
  });

export function useCancelReplay(id: string) {
  const client = useQueryClient();
  const { queryKey } = replayQuery(id);
  return useMutation({
    mutationFn: async () => {
      try {
        await answerOf(api.POST('/v1/replays/{id}/cancel', { params: { path: { id } } }));
      } catch (error) {
        // It has completed in the meantime, which the next fetch shows.
        if (!(error instanceof RefusedError) || error.status !== 409) throw error;
      }
    },
    onSettled: () => client.invalidateQueries({ queryKey }),
  });
}

/** Explains why counting or starting a replay failed. */
export function startSentence(error: Error): string {
  return error instanceof TypeError
    ? 'The server did not answer. Try again: nothing is sent twice.'
    : sentenceOf(error);
}
