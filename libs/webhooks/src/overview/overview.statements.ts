import { MAX_SCANNED_ROWS } from '#libs/kernel';
import { type NoValues, prepared, type RowOf, statement } from '#libs/runtime';
import { type Day, withinDays } from '../partitions/partition-days.js';
import { steps } from '../sending/due-deliveries.statements.js';
import type { Load } from '../statistics/account-loads.js';

/** In the order of the index on pending rows. */
export function countExpiredClaims(day: Day) {
  return statement<NoValues, { lookedAt: number; expired: number }>(`
SELECT count(*)::integer AS "lookedAt",
  (count(*) FILTER (WHERE claimed_until <= now()))::integer AS expired
FROM (
  SELECT claimed_until FROM deliveries WHERE state = 'pending' AND ${withinDays('id', day)}
  ORDER BY webhook_id, next_attempt_at LIMIT ${MAX_SCANNED_ROWS}
) d`);
}

interface PartitionSizeRow {
  day: string;
  parent: 'events' | 'deliveries' | 'attempts';
  bytes: number;
}

export const LIST_PARTITION_SIZES = prepared<NoValues, PartitionSizeRow>(
  'overview.partitions',
  `
SELECT to_date(right(part.relname, 8), 'YYYYMMDD')::text AS day, parent.relname AS parent,
  pg_total_relation_size(part.oid)::float8 AS bytes
FROM pg_inherits i
JOIN pg_class part ON part.oid = i.inhrelid
JOIN pg_class parent ON parent.oid = i.inhparent
WHERE i.inhparent IN ('events'::regclass, 'deliveries'::regclass, 'attempts'::regclass)
  AND part.relname ~ '_[0-9]{8}$'`,
);

/** A subscription whose attempts fail. */
export interface FailingTarget {
  webhookId: string;
  accountId: string;
  targetUrl: string;
  /** Failed attempts in a row, ten at most. */
  failures: number;
  failingSince: Date;
  /** Nothing is sent until then. */
  openUntil?: Date;
}

export const LIST_FAILING = prepared<{ limit: number }, RowOf<FailingTarget>>(
  'overview.failing',
  `
SELECT id AS "webhookId", account_id AS "accountId", target_url AS "targetUrl", failures,
  failing_since AS "failingSince", open_until AS "openUntil"
FROM webhooks WHERE failing_since IS NOT NULL AND enabled AND deleted_at IS NULL
ORDER BY failing_since LIMIT @limit`,
);

/** The most waiting deliveries of a subscription and a day that are counted. */
const MOST_WAITING = 10_000;

/** In the order of the index on pending rows. */
export function countWaitingOf(day: Day) {
  return statement<{ webhookIds: string[] }, { webhookId: string; waiting: number }>(`
SELECT w.id AS "webhookId", count(*)::integer AS waiting
FROM unnest(@webhookIds::bigint[]) AS w(id) CROSS JOIN LATERAL (
  SELECT FROM deliveries
  WHERE webhook_id = w.id AND state = 'pending' AND ${withinDays('id', day)}
  ORDER BY next_attempt_at LIMIT ${MOST_WAITING}
) d
GROUP BY w.id`);
}

/** The waiting deliveries of accounts, at most {@link MOST_WAITING} of each subscription. */
export function countWaitingByAccount(day: Day) {
  return statement<NoValues, { accountId: string; waiting: number }>(`
${steps(day, {})}
SELECT w.account_id AS "accountId", sum(d.waiting)::float8 AS waiting
FROM step s
  JOIN LATERAL (SELECT * FROM webhooks WHERE id = s.webhook_id LIMIT 1) w ON true
  CROSS JOIN LATERAL (
    SELECT count(*) AS waiting FROM (
      SELECT FROM deliveries
      WHERE webhook_id = s.webhook_id AND state = 'pending' AND ${withinDays('id', day)}
      ORDER BY next_attempt_at LIMIT ${MOST_WAITING}
    ) p
  ) d
GROUP BY w.account_id`);
}

/** What each account has caused in some hours. */
export const SUM_LOADS = statement<{ since: string; until: string }, Load & { accountId: string }>(`
SELECT account_id AS "accountId", sum(reported)::float8 AS reported, sum(delivered)::float8 AS delivered,
  sum(failed)::float8 AS failed, sum(busy_ms)::float8 AS "busyMs"
FROM account_loads WHERE at >= @since::timestamptz AND at < @until::timestamptz
GROUP BY account_id`);

export const NEWEST_MIGRATION = prepared<NoValues, { name: string }>(
  'overview.migration',
  'SELECT name FROM migrations ORDER BY id DESC LIMIT 1',
);
