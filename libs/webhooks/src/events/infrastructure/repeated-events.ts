import type { Run } from '#libs/runtime';
import type { ReportedEvent } from '../domain/event.js';
import { type EventResultRow, FIND_KEYS, type KeyRow } from './accept-events.statements.js';

/** The first acceptance of each repeated event, by position in the batch. */
export async function findRepeated(
  run: Run,
  events: readonly ReportedEvent[],
  rows: readonly EventResultRow[],
): Promise<Map<number, KeyRow>> {
  const repeated = rows.filter((row) => row.refusal === null && !row.held && !row.fresh);
  if (repeated.length === 0) return new Map();
  const keyOf = (row: EventResultRow) => {
    const { event, producerId = '' } = events[row.ord - 1] as ReportedEvent;
    return [row.accountId, event, producerId] as const;
  };
  const keys = repeated.map(keyOf);
  const found = await run(FIND_KEYS, {
    accountIds: keys.map(([account]) => account),
    events: keys.map(([, event]) => event),
    producerIds: keys.map(([, , producerId]) => producerId),
  });
  const byKey = new Map(
    found.map((row) => [`${row.accountId} ${row.event} ${row.producerId}`, row]),
  );
  return new Map(
    repeated.flatMap((row) => {
      const key = byKey.get(keyOf(row).join(' '));
      return key ? [[row.ord, key] as const] : [];
    }),
  );
}
