import { type NoValues, prepared, type RowOf, statement } from '#libs/runtime';
import type { Scope } from '#libs/kernel';
import { type Day, withinDays } from '../../partitions/partition-days.js';
import { withinBytes } from '../../partitions/row-lookups.js';
import { type Erasure, MAX_RUNNING } from '../domain/erasure.js';

/** The text is stored only while the erasure runs. @returns no row if too many are running */
export const START_ERASURE = statement<
  {
    accountId: string | undefined;
    contains: string;
    since: string | undefined;
    until: string | undefined;
  },
  { id: string }
>(`
INSERT INTO erasures (id, account_id, contains, since, until, after)
SELECT new_uuid(now(), 1), @accountId::bigint, @contains::text, @since::timestamptz,
  least(@until::timestamptz, now()), least_uuid(coalesce(@since::timestamptz, 'epoch'))
WHERE ${MAX_RUNNING} > (
  SELECT count(*) FROM erasures WHERE completed_at IS NULL AND account_id IS NOT DISTINCT FROM @accountId::bigint
)
RETURNING id`);

/** `after`: how far it has searched. */
export type ErasureRow = RowOf<Omit<Erasure, 'searchedTo'>> & { after: string };

export const FIND_ERASURE = prepared<{ id: string; accountId: Scope }, ErasureRow>(
  'erasures.find',
  `
SELECT id, account_id AS "accountId", since, until,
  CASE WHEN completed_at IS NULL THEN 'running' ELSE 'completed' END AS state,
  events, producer_ids AS "producerIds", deliveries, after,
  created_at AS "createdAt", completed_at AS "completedAt"
FROM erasures WHERE id = @id AND (@accountId::bigint IS NULL OR account_id = @accountId)`,
);

export interface RunningErasure {
  id: string;
  accountId: string | null;
  contains: string;
  since: Date | null;
  until: Date;
  after: string;
}

/** The running erasure that has waited longest, so that they take turns. */
export const NEXT_ERASURE = prepared<NoValues, RunningErasure>(
  'erasures.next',
  `
SELECT id, account_id AS "accountId", contains, since, until, after FROM erasures
WHERE completed_at IS NULL ORDER BY advanced_at LIMIT 1`,
);

/**
 * Erases some events of a running erasure, and stores its progress (`ERASE_EVENTS_FUNCTION`).
 * @returns false if another worker is ahead, or is at it
 */
export const ERASE_EVENTS = prepared<
  { id: string; matched: string[]; keyed: string[]; upTo: string },
  { done: boolean }
>(
  'erasures.erase',
  'SELECT erase_events(@id::uuid, @matched::uuid[], @keyed::uuid[], @upTo::uuid) AS done',
);

/** Ends an erasure, and removes its text. */
export const END_ERASURE = prepared<{ id: string }>(
  'erasures.end',
  'SELECT end_erasure(@id::uuid)',
);

/** How many events {@link searchEvents} reads at most; their data are limited, too (`withinBytes`). */
export const EVENTS_SEARCHED = 1_000;

/** Events to search: of an account or of all, behind one and within a time. */
export interface SoughtEvents {
  accountId: string | undefined;
  after: string;
  since: string | undefined;
  until: string;
}

export interface SearchedRow {
  id: string;
  /** Whether it is the last one that was read, and others may follow on the same day. */
  isLast: boolean;
  hasText: boolean;
  hasKey: boolean;
  /** Given if the text may be in the data, but escaped. */
  data: string | null;
}

/** Where {@link searchEvents} has the text from. The server's log may show values of statements, but no rows. */
export type TextOf = 'erasure' | 'request';

const TEXTS: Record<TextOf, string> = {
  erasure: '(SELECT contains FROM erasures WHERE id = @erasure::uuid)',
  request: '@contains::text',
};

/**
 * Searches the next events of a day, oldest first, tests and notices included. Returns those that contain the text or may
 * do so, and the last one that it has read. Not prepared, because the best plan depends on the account.
 */
export function searchEvents(day: Day, { isOwned, text }: { isOwned: boolean; text: TextOf }) {
  const end = `least_uuid(@until::timestamptz + interval '1 ms')`;
  const order = isOwned ? 'account_id, id' : 'id';
  const sought = isOwned
    ? `(account_id, id) > (@accountId::bigint, @after::uuid) AND (account_id, id) < (@accountId::bigint, ${end})`
    : `@accountId::bigint IS NULL AND id > @after::uuid AND id < ${end}`;
  const rows = `SELECT *, in_time AND erased_at IS NULL AS selected FROM (
    SELECT account_id, id, producer_id, erased_at, data,
      created_at < @until::timestamptz AND (@since::timestamptz IS NULL OR created_at >= @since) AS in_time
    FROM events WHERE ${sought} AND ${withinDays('id', day)}
    ORDER BY ${order} LIMIT ${EVENTS_SEARCHED}
  ) AS e`;
  return statement<
    SoughtEvents & { erasure?: string | undefined; contains?: string | undefined },
    SearchedRow
  >(`
SELECT id, "isLast", "hasText", "hasKey", CASE WHEN "isEscaped" AND NOT "hasText" THEN data END AS data
FROM (
  SELECT id, "isLast", data,
    in_time AND coalesce(strpos(producer_id, ${TEXTS[text]}) > 0, false) AS "hasKey",
    CASE WHEN selected THEN strpos(data, ${TEXTS[text]}) > 0 ELSE false END AS "hasText",
    CASE WHEN selected THEN strpos(data, '\\') > 0 ELSE false END AS "isEscaped"
  FROM (${withinBytes(rows, order, { returns: true, most: EVENTS_SEARCHED })}) AS read
  WHERE "isRead"
) AS searched
WHERE "isLast" OR "hasText" OR "hasKey" OR "isEscaped"
ORDER BY id`);
}
