import { nextPageOf } from '#libs/client';
import { answerOf, api } from '../../app/api.js';
import type { Event } from './events.queries.js';

/** The first page of events that no subscription was told of. */
export interface Missed {
  events: readonly Event[];
  /** Whether there may be more. */
  isMore: boolean;
  /** The list of all of them. */
  path: string;
}

/**
 * @param filters of the list of events
 */
export async function readMissed(
  filters: Readonly<Record<string, string>>,
  limit: number,
  signal: AbortSignal,
): Promise<Missed> {
  const query = { ...filters, unmatched: true };
  const call = api.GET('/v1/events', { params: { query: { ...query, limit } }, signal });
  const events = await answerOf(call);
  const path = `/events?${new URLSearchParams({ ...filters, unmatched: 'true' }).toString()}`;
  return { events, isMore: nextPageOf((await call).response) !== undefined, path };
}

/** `12 events`, `50 or more events`. */
export function missedText(count: number, isMore: boolean, what = 'event'): string {
  if (isMore) return `${count} or more ${what}s`;
  return count === 1 ? `1 ${what}` : `${count} ${what}s`;
}
