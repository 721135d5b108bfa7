import { api } from '../../app/api.js';
import { firstRows } from '../../app/first-rows.js';

/** The first events that were missed. */
export interface Missed {
  count: number;
  /** Whether there may be more. */
  isMore: boolean;
  /** The list of all of them. */
  path: string;
}

/**
 * @param filters of the list of events: `missedBy`, or `unmatched` for those that were sent to no subscription
 */
export async function readMissed(
  filters: { missedBy: string; since?: string } | { unmatched: 'true'; since: string },
  limit: number,
  signal: AbortSignal,
): Promise<Missed> {
  const { rows, isMore } = await firstRows(limit, (page) =>
    api.GET('/v1/events', { params: { query: { ...(filters as object), ...page } }, signal }),
  );
  const path = `/events?${new URLSearchParams(filters).toString()}`;
  return { count: rows.length, isMore, path };
}

/** `12 events`, `50 or more events`. */
export function missedText(count: number, isMore: boolean, what = 'event'): string {
  if (isMore) return `${count} or more ${what}s`;
  return count === 1 ? `1 ${what}` : `${count} ${what}s`;
}
