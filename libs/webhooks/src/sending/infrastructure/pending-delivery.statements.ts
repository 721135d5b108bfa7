import type { Sealed } from '#libs/kernel';
import { prepared, type RowOf } from '#libs/runtime';
import type { Pace } from '../domain/due-schedule.js';
import type { KnownHealth, LeasedDelivery, OpenTarget } from '../domain/pending-deliveries.js';
import { IS_ONE_OF_IDS } from '../../partitions/row-lookups.js';
import { type Day, ofDay, withinDays } from '../../partitions/partition-days.js';
import { type Leases, LEASES } from '../../queue/leases.statements.js';
import type { Webhook } from '../../subscriptions/domain/webhook.js';
import type { SealedTarget, WebhookSecrets } from '../../subscriptions/domain/webhook-secrets.js';
import { IS_BLOCKED, IS_OFF, IS_PACED } from '../../subscriptions/webhook-flow.js';
import { countLosses } from '../../statistics/delivery-results.js';
import { HEALTH, type HealthColumn, knownHealth } from './circuit-breaker.statements.js';

/** A row of a statement that leases deliveries. */
export type LeasedRow = Omit<LeasedDelivery, 'leasedAt' | 'leaseEnds' | 'event' | 'subscription'> &
  RowOf<LeasedDelivery['event']> &
  Pick<Webhook, 'backlog' | 'name' | 'payload' | 'retry' | 'secret' | 'targetVersion'> &
  SealedTarget & {
    leaseMs: number;
    health: HealthColumn;
    retiredSecrets: Sealed[] | null;
    /** Whether it is the probe of a half-open circuit. */
    isProbe?: boolean;
    pace?: Pace;
    pacedMs?: number;
  };

/** Its row for a delivery whose event was removed. */
export interface EventlessRow {
  id: string;
  event: null;
}

/**
 * A leased delivery. Its secrets are opened only when it is sent.
 * @param askedAt when the statement was sent, in ms of this process' monotonic clock
 */
export function leasedOf(row: LeasedRow, secrets: WebhookSecrets, askedAt: number): LeasedDelivery {
  return {
    id: row.id,
    attempt: row.attempt,
    lease: row.lease,
    leasedAt: askedAt,
    leaseEnds: askedAt + row.leaseMs,
    scheduleBase: row.scheduleBase,
    immediate: row.immediate,
    isExtra: row.isExtra,
    extraAttempts: row.extraAttempts,
    replayed: row.replayed,
    createdAt: row.createdAt,
    takenAt: row.takenAt,
    event: {
      accountId: row.accountId,
      applicationId: row.applicationId,
      event: row.event,
      resource: row.resource,
      occurredAt: row.occurredAt,
      test: row.test,
      traceparent: row.traceparent,
      data: row.data,
    },
    webhookId: row.webhookId,
    subscription: {
      name: row.name,
      payload: row.payload,
      retry: row.retry,
      targetVersion: row.targetVersion,
      health: healthOf(row, askedAt),
      backlog: row.backlog,
      pace: row.pace ?? null,
      pacedMs: row.pacedMs ?? 0,
      openTarget: () => openTarget(row, secrets),
    },
  };
}

/** A probe's circuit counts as half-open, although the row shows it open to hold off other probes. */
function healthOf({ health, isProbe }: LeasedRow, readAt: number): KnownHealth {
  const known = knownHealth(health, readAt);
  return isProbe === true ? { ...known, openMs: 0 } : known;
}

function openTarget(row: LeasedRow, secrets: WebhookSecrets): OpenTarget {
  return {
    url: secrets.targetUrl(row),
    headers: secrets.headers(row),
    secrets: [row.secret, ...(row.retiredSecrets ?? [])].map((sealed) =>
      secrets.open(row.accountId, 'secret', sealed),
    ),
  };
}

export const LEASED = `d.id, d.event_id, d.webhook_id, d.generation, d.attempts, d.takes,
    d.schedule_base, d.immediate, d.resumes_at, d.extra_attempts, d.replayed, d.created_at,
    d.claimed_until`;

/** Loads everything needed to send `leased`. */
export const loadLeased = (day: Day, others = ''): string => `
SELECT d.id, d.webhook_id AS "webhookId", d.attempts + 1 AS attempt, d.takes AS lease,
  d.schedule_base AS "scheduleBase", d.immediate, d.resumes_at IS NOT NULL AS "isExtra",
  coalesce(d.extra_attempts, 0) AS "extraAttempts", d.replayed, d.created_at AS "createdAt",
  now() AS "takenAt", (extract(epoch FROM d.claimed_until - now()) * 1000)::float8 AS "leaseMs",
  e.account_id AS "accountId", e.application_id AS "applicationId", e.event, e.resource,
  e.occurred_at AS "occurredAt", e.test, e.traceparent, e.data, w.backlog, w.name,
  w.target_url AS "targetUrl", w.userinfo, w.target_version AS "targetVersion", w.headers, w.payload,
  w.retry, w.secret,
  CASE WHEN w.retired_secrets <> '[]' THEN ARRAY(
    SELECT retired ->> 'secret' FROM jsonb_array_elements(w.retired_secrets) AS r(retired)
    WHERE (retired ->> 'until')::timestamptz > now()
  ) END AS "retiredSecrets",
  ${HEALTH} AS health${others}
FROM leased d
LEFT JOIN LATERAL (
  SELECT * FROM events WHERE id = d.event_id AND ${withinDays('id', day)} LIMIT 1
) e ON true
JOIN LATERAL (SELECT * FROM webhooks WHERE id = d.webhook_id LIMIT 1) w ON true`;

/**
 * Loads the deliveries of queue jobs, which were leased when they went onto the queue. It leaves out those that a
 * worker claimed since, and those that are finished, or blocked, or whose subscription is disabled or has got a pace.
 */
export const LOAD = ofDay<Leases, LeasedRow | EventlessRow>(
  'pending.load',
  (day) => `
WITH leased AS MATERIALIZED (
  SELECT ${LEASED} FROM ${LEASES} AS j(id, lease)
  JOIN LATERAL (SELECT * FROM deliveries WHERE id = j.id AND ${withinDays('id', day)} LIMIT 1) d
    ON d.takes = j.lease AND d.state = 'pending' AND d.claimed_until > now()
)
${loadLeased(day)}
WHERE NOT ${IS_OFF} AND (d.immediate OR NOT (${IS_BLOCKED} OR ${IS_PACED}))`,
);

export const HAS_SUCCEEDED = prepared<{ webhookId: string }>(
  'pending.has-succeeded',
  'SELECT FROM webhook_successes WHERE webhook_id = @webhookId',
);

/** Ends leased deliveries whose event was removed, because they would otherwise be leased again and again. */
export const END_WITHOUT_EVENT = ofDay<{ ids: string[] }>(
  'pending.end-without-event',
  (day) => `
WITH ended AS (
  UPDATE deliveries d
  SET state = 'exhausted', reason = 'expired', claimed_until = NULL, next_attempt_at = NULL,
    completed_at = now()
  WHERE d.id ${IS_ONE_OF_IDS} AND ${withinDays('d.id', day)} AND d.state = 'pending'
  RETURNING d.webhook_id, d.reason
)
${countLosses('ended')}`,
);
