import { prepared, statement } from '#libs/runtime';
import type { AttemptCount } from '../domain/attempt-counts.js';

/** The subscription of rows that count all of an account's. */
export const ALL = '0';

/** The rows come in the order of their key, so that concurrent workers cannot block each other for ever. */
export const ADD_COUNTS = prepared<{
  accountIds: string[];
  webhookIds: string[];
  at: string[];
  outcomes: string[];
  bins: number[];
  counts: number[];
}>(
  'attempt-counts.add',
  `
INSERT INTO attempt_counts (account_id, webhook_id, at, outcome, bin, count)
SELECT * FROM unnest(@accountIds::bigint[], @webhookIds::bigint[], @at::timestamptz[],
  @outcomes::text[], @bins::smallint[], @counts::integer[])
ON CONFLICT (account_id, webhook_id, at, outcome, bin)
DO UPDATE SET count = attempt_counts.count + excluded.count`,
);

export const READ_COUNTS = prepared<
  { accountId: string; webhookId: string; since: string; until: string; widthS: number },
  AttemptCount
>(
  'attempt-counts.read',
  `
SELECT (extract(epoch FROM start - @since::timestamptz) / @widthS::integer)::integer AS bucket,
  outcome, bin, count::float8
FROM (
  SELECT date_bin(make_interval(secs => @widthS::integer), at, @since::timestamptz) AS start,
    outcome, bin, sum(count) AS count
  FROM attempt_counts
  WHERE account_id = @accountId AND webhook_id = @webhookId
    AND at >= @since::timestamptz AND at < @until::timestamptz
  GROUP BY 1, 2, 3
) c`,
);

/** @returns as many rows as were deleted */
export const FORGET_COUNTS = statement<{ days: number; limit: number }>(`
DELETE FROM attempt_counts WHERE ctid = ANY (ARRAY(
  SELECT ctid FROM attempt_counts WHERE at < now() - @days::integer * interval '24 hours'
  ORDER BY at LIMIT @limit::integer FOR UPDATE SKIP LOCKED
))
RETURNING 1`);
