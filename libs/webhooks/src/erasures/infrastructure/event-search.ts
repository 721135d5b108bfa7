import { inSlices } from '#libs/kernel';
import type { Run } from '#libs/runtime';
import { type Day, DAY_MS, dayAt, dayOf, leastIdAt } from '../../partitions/partition-days.js';
import { containsDecoded } from '../domain/escaped-text.js';
import { searchEvents, type SoughtEvents } from './erasure.statements.js';

/** The text, and the running erasure whose row has it, if there is one. */
export interface SoughtText {
  contains: string;
  erasure?: string;
}

/** An event with the text. */
export interface FoundEvent {
  id: string;
  /** Whether it is in its data. */
  hasText: boolean;
  /** Whether it is in its producer's key. */
  hasKey: boolean;
}

/** A part of a day that was searched. */
export interface SearchedPart {
  found: FoundEvent[];
  /** The next part begins after this id. */
  upTo: string;
}

/** The first day that an erasure has left to search; undefined if there is none. @param days newest first */
export function nextDay(
  days: readonly Day[],
  { after, until }: { after: string; until: Date },
): Day | undefined {
  const [first, last] = [dayOf(after), dayAt(until)];
  return days.filter((day) => day >= first && day <= last).at(-1);
}

/** Searches the next events of a day. */
export async function searchDay(
  run: Run,
  day: Day,
  sought: SoughtEvents,
  { contains, erasure }: SoughtText,
): Promise<SearchedPart> {
  const party = sought.accountId ?? 'all accounts';
  const text = erasure === undefined ? 'request' : 'erasure';
  const rows = await run(searchEvents(day, { isOwned: sought.accountId !== undefined, text }), {
    ...sought,
    ...(erasure === undefined ? { contains } : { erasure }),
  });
  const found: FoundEvent[] = [];
  for (const { id, data, hasKey, ...row } of rows) {
    const hasText =
      row.hasText || (data !== null && (await inSlices(party, containsDecoded(data, contains))));
    if (hasText || hasKey) found.push({ id, hasText, hasKey });
  }
  const last = rows.at(-1);
  return {
    found,
    upTo: last?.isLast === true ? last.id : leastIdAt((day + 1) * DAY_MS),
  };
}
