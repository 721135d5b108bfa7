import { CLOCK, type NoValues, prepared, statement } from '#libs/runtime';
import { type Span, within } from '../partitions/partition-days.js';
import { DELETED } from '../subscriptions/domain/subscription-life.js';
import { assignedWhere } from '../subscriptions/webhook.schema.js';

/** The tables whose rows are removed first, in this order, because deliveries show data of their event. */
export const KINDS = ['deliveries', 'events'] as const;
export type Kind = (typeof KINDS)[number];

/**
 * Deletes all applications and subscriptions of an account, and lets workers remove its data. One statement, whatever
 * their number: together they end at once.
 */
export const END_ACCOUNT = statement<{ accountId: string }>(`
WITH ${CLOCK},
closing AS (
  INSERT INTO closings (account_id) VALUES (@accountId) ON CONFLICT DO NOTHING
),
deleted AS (
  UPDATE applications SET deleted_at = now() WHERE user_id = @accountId AND deleted_at IS NULL
)
UPDATE webhooks w SET ${assignedWhere(`'all'`, { all: DELETED })}
WHERE account_id = @accountId AND deleted_at IS NULL`);

/** The number of the account's rows in a span of days, up to @most. */
export function countOf(kind: Kind, span: Span) {
  return statement<{ accountId: string; most: number }, { count: number }>(`
SELECT count(*)::integer AS count FROM (
  SELECT FROM ${kind} WHERE account_id = @accountId AND ${within('id', span)} LIMIT @most::integer
) counted`);
}

/** The accounts that are being closed, in the order of the requests. */
export const CLOSING_ACCOUNTS = prepared<NoValues, { accountId: string }>(
  'closings.accounts',
  'SELECT account_id AS "accountId" FROM closings ORDER BY requested_at, account_id',
);

/** Removes some of an account's rows after an id. @returns no row if another worker is at it */
export const REMOVE_DATA = prepared<
  { accountId: string; kind: Kind; after: string; until: string; most: number },
  { seen: number; last: string | null }
>(
  'closings.remove-data',
  `
SELECT seen, last
FROM remove_data_of_account(@accountId::bigint, @kind::text, @after::uuid, @until::uuid, @most::integer)`,
);

/** Removes some of an account's other rows, and finally closes it (`finish_closing`). */
export const FINISH = prepared<{ accountId: string; most: number }, { removed: number | null }>(
  'closings.finish',
  'SELECT finish_closing(@accountId::bigint, @most::integer) AS removed',
);
