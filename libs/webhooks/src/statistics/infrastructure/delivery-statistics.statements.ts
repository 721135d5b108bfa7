import { type RowOf, statement } from '#libs/runtime';
import type { AttemptOutcome } from '../domain/delivery-statistics.js';
import { daysAtOnce, type Span, within } from '../../partitions/partition-walk.js';

/** How many days {@link findAttempted}, {@link countWaiting} and {@link countWaitingOfAccount} may cover. */
export const DAYS_OF_DELIVERIES = daysAtOnce('deliveries');
/** How many days {@link listAttemptsOf} may cover. */
export const DAYS_OF_ATTEMPTS = daysAtOnce('attempts');

export function findAttempted(span: Span) {
  return statement<{ webhookId: string; limit: number }, { id: string }>(`
SELECT id FROM deliveries
WHERE webhook_id = @webhookId AND attempts > 0 AND ${within('id', span)}
ORDER BY id DESC LIMIT @limit`);
}

export type AttemptOutcomeRow = RowOf<AttemptOutcome> & { at: Date };

/** Looks up each delivery separately, because a plain join would read whole partitions. */
export function listAttemptsOf(span: Span) {
  return statement<{ ids: string[]; limit: number }, AttemptOutcomeRow>(`
SELECT a.at, a.status, a.error, a.duration_ms AS "durationMs"
FROM unnest(@ids::uuid[]) AS d(id) CROSS JOIN LATERAL (
  SELECT * FROM attempts WHERE delivery_id = d.id AND ${within('delivery_id', span)} LIMIT @limit
) a
ORDER BY a.at DESC LIMIT @limit`);
}

interface WaitingRow {
  deliveries: number;
  since: Date | null;
}

/** Counts at most `limit` of them. */
export function countWaiting(span: Span) {
  return statement<{ webhookId: string; limit: number }, WaitingRow>(`
SELECT count(*)::integer AS deliveries, min(created_at) AS since
FROM (
  SELECT d.created_at FROM deliveries d
  WHERE d.webhook_id = @webhookId AND d.state = 'pending'
    AND d.generation = (SELECT generation FROM webhooks WHERE id = @webhookId)
    AND ${within('d.id', span)}
  LIMIT @limit::integer
) d`);
}

/** Counts at most `limit` of those of all subscriptions. */
export function countWaitingOfAccount(span: Span) {
  return statement<{ accountId: string; limit: number }, WaitingRow>(`
SELECT count(*)::integer AS deliveries, min(created_at) AS since
FROM (
  SELECT d.created_at FROM webhooks w CROSS JOIN LATERAL (
    SELECT created_at FROM deliveries
    WHERE webhook_id = w.id AND state = 'pending' AND generation = w.generation
      AND ${within('id', span)}
    LIMIT @limit::integer
  ) d
  WHERE w.account_id = @accountId AND w.deleted_at IS NULL
  LIMIT @limit::integer
) d`);
}
