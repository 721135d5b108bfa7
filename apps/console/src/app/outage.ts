import type { QueryState } from '@tanstack/react-query';
import { RefusedError } from '#libs/client';
import { API_URL } from './addresses.js';
import { fetchInTime, SilenceError } from './fetch-in-time.js';
import { queryClient } from './query-client.js';

const AGAIN_MS = 5_000;
/** Answers of a proxy, or of an API whose stores are away. */
const STATUSES = [502, 503, 504];

/** Whether a request failed because nothing answers, and may succeed later. */
export function isOutage(error: unknown): boolean {
  if (error instanceof RefusedError) return STATUSES.includes(error.status);
  return error instanceof TypeError || error instanceof SilenceError;
}

const hasFailed = ({ state }: { state: QueryState<unknown, unknown> }): boolean =>
  state.status === 'error' && state.fetchStatus === 'idle' && isOutage(state.error);

/** Reads what is on screen and failed for lack of an answer again, as soon as the API answers. */
export function mendAfterOutages(): void {
  const cache = queryClient.getQueryCache();
  let timer: number | undefined;
  const tryLater = (): void => {
    timer ??= window.setTimeout(() => void mend(), AGAIN_MS);
  };
  async function mend(): Promise<void> {
    const failed = () => cache.findAll({ type: 'active', predicate: hasFailed });
    const answers = failed().length > 0 && (await isAnswering());
    timer = undefined;
    if (answers) await queryClient.refetchQueries({ type: 'active', predicate: hasFailed });
    else if (failed().length > 0) tryLater();
  }
  cache.subscribe((event) => {
    if (event.type === 'updated' && event.action.type === 'error' && hasFailed(event.query)) {
      tryLater();
    }
  });
}

async function isAnswering(): Promise<boolean> {
  // One small request, whatever the page shows, so that nothing on screen flickers meanwhile.
  const request = new Request(`${API_URL}/v1/session`, { headers: { 'X-Unattended': 'true' } });
  const response = await fetchInTime(request).catch(() => undefined);
  await response?.body?.cancel();
  return response !== undefined && response.status < 500;
}
