import type { ApiConnection } from '../api/api-connection.js';

/** The API's largest batch, and a size that it accepts by default. */
const MAX_BATCH = 1_000;
const MAX_BYTES = 1_000_000;

/** The API's result for one event: accepted, or refused with an `error` sentence. */
export type EventAnswer =
  { href: string; duplicate: boolean; deliveries: number } | { error: string };

/**
 * Sends events to an API in the way of a producer, in batches if there is more than one, and yields the results in
 * order.
 * @param events JSON texts, sent unchanged
 * @throws CommandFailure when a whole request is refused or not answered
 */
export async function* sendEvents(
  api: ApiConnection,
  events: readonly string[],
): AsyncGenerator<EventAnswer> {
  if (events.length === 1) {
    const { text } = await api.ask('POST', 'v1/events', events[0]);
    yield JSON.parse(text) as EventAnswer;
    return;
  }
  for (const batch of batchesOf(events)) {
    const { text } = await api.ask('POST', 'v1/events/batch', `{"events":[${batch.join(',')}]}`);
    yield* (JSON.parse(text) as { results: EventAnswer[] }).results;
  }
}

function batchesOf(events: readonly string[]): string[][] {
  const batches: string[][] = [[]];
  let bytes = 0;
  for (const event of events) {
    const size = Buffer.byteLength(event) + 1;
    if (batches.at(-1)!.length === MAX_BATCH || bytes + size > MAX_BYTES) {
      batches.push([]);
      bytes = 0;
    }
    batches.at(-1)!.push(event);
    bytes += size;
  }
  return batches.filter((batch) => batch.length > 0);
}
