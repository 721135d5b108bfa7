import type { Scope } from '#libs/kernel';
import { prepared, type Run } from '#libs/runtime';
import type { DeliveryFilter } from './domain/delivery.js';

/** The events with a producer's key, newest first. */
export const EVENTS_OF_KEY = prepared<{ producerId: string; accountId: Scope }, { id: string }>(
  'events.of-key',
  `
SELECT event_id AS id FROM event_keys
WHERE producer_id = @producerId AND (@accountId::bigint IS NULL OR account_id = @accountId)
ORDER BY event_id DESC`,
);

/** The events that a list is about, newest first; undefined for all of them. */
export async function eventIdsOf(
  run: Run,
  scope: Scope,
  { eventId, producerId }: Pick<DeliveryFilter, 'eventId' | 'producerId'>,
): Promise<string[] | undefined> {
  if (eventId !== undefined) return [eventId];
  if (producerId === undefined) return undefined;
  const rows = await run(EVENTS_OF_KEY, { producerId, accountId: scope });
  return rows.map(({ id }) => id);
}
