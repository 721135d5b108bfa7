import type { Sealed } from '#libs/kernel';
import { CLOCK, later, prepared, type RowOf, rowsFrom } from '#libs/runtime';
import type { Pace } from '../domain/due-schedule.js';
import type { KnownHealth, LeasedDelivery, OpenTarget } from '../domain/pending-deliveries.js';
import { IS_ONE_OF_IDS } from '../../partitions/row-lookups.js';
import { type Day, ofDay, withinDays } from '../../partitions/partition-days.js';
import { leaseOf } from '../../queue/delivery-queues.js';
import type { Webhook } from '../../subscriptions/domain/webhook.js';
import type { SealedTarget, WebhookSecrets } from '../../subscriptions/domain/webhook-secrets.js';
import {
  IS_BLOCKED,
  IS_OFF,
  IS_ORDERED,
  IS_PACED,
  IS_STOPPED,
  OFF_REASON,
} from '../../subscriptions/webhook-flow.js';
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

/** The length of a lease of delivery `d`. */
export const LEASE = leaseOf('(SELECT retry FROM webhooks WHERE id = d.webhook_id)');

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

/** Deliveries with the numbers of their leases. */
export interface Leases {
  ids: string[];
  leases: number[];
}

/** {@link Leases} as rows. */
export const LEASES = rowsFrom({ ids: 'uuid', leases: 'integer' });

/** Locks the delivery `d` of row `j`. A row that is locked already is left out. */
export const lockedDelivery = (day: Day): string => `
  JOIN LATERAL (
    SELECT id, webhook_id FROM deliveries WHERE id = j.id AND ${withinDays('id', day)} LIMIT 1
    FOR NO KEY UPDATE SKIP LOCKED
  ) d ON true`;

/**
 * Loads the deliveries of queue jobs, which were leased when they went onto the queue. It leaves out those that a
 * worker claimed since, and those that are finished, or blocked, or whose subscription is off or has got a pace.
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

/** Reserves the probes of half-open circuits by opening them again for the length of a lease. */
export const PROBE = prepared<{ webhookIds: string[]; timeoutMs: number }, { id: string }>(
  'pending.probe',
  `
UPDATE webhooks w
SET open_until = now() + ${leaseOf('NULL::jsonb')}
WHERE w.id = ANY (ARRAY(
  SELECT id FROM webhooks WHERE id = ANY (@webhookIds::bigint[]) AND open_until <= now()
  FOR NO KEY UPDATE SKIP LOCKED
))
RETURNING w.id`,
);

/** What to claim; the first three arrays have one element for each subscription. */
export interface Claims {
  webhookIds: string[];
  most: number[];
  /**
   * Upper bounds of how long deliveries have been due. Older index entries are skipped, because an open
   * snapshot keeps the entries of finished deliveries in the index.
   */
  dueForMs: number[];
  /** Subscriptions whose probe is claimed. */
  probes: string[];
  /** The default for subscriptions without a timeout. */
  timeoutMs: number;
}

/** `isExpired`: whether the last lease ended without an outcome. */
export type ClaimedRow = (LeasedRow | EventlessRow) & { isExpired: boolean };

/** Whether deliveries of subscription `w` may be claimed, as far as nothing but its pace is concerned. */
export const MAY_BE_SENT = `NOT ${IS_STOPPED} AND (w.open_until IS NULL OR w.id = ANY (@probes::bigint[]))`;

/** Whether a claim may lease the delivery. The last condition matters after its subscription was ordered. */
export const IS_CLAIMABLE = `next_attempt_at <= now() AND (claimed_until IS NULL OR claimed_until <= now())
      AND (not_before IS NULL OR not_before <= now())`;

/** Leases the oldest due deliveries of each subscription without a pace, without the queue. */
export const CLAIM = ofDay<Claims, ClaimedRow>('pending.claim', (day) =>
  claim(day, 'NOT immediate', `${MAY_BE_SENT} AND NOT ${IS_PACED}`),
);

/** Whether its customer sends delivery `d` at once although it is ordered: it keeps its place, and those behind it wait. */
export const IS_SENT_AT_PLACE = `d.resumes_at IS NOT NULL AND ${IS_ORDERED}`;

/** Like {@link CLAIM} for immediate deliveries, which are never blocked. */
export const CLAIM_IMMEDIATE = ofDay<Claims, ClaimedRow>('pending.claim-immediate', (day) =>
  claim(
    day,
    'immediate',
    '@probes::bigint[] IS NOT NULL',
    `CASE WHEN ${IS_SENT_AT_PLACE} THEN d.next_attempt_at ELSE ${later(LEASE)} END`,
    ` ${CLOCK},`,
  ),
);

/** @param ofLeased `next_attempt_at` of a leased delivery; `further`: CTEs that it needs */
function claim(
  day: Day,
  isAskedFor: string,
  mayBeSent: string,
  ofLeased = `now() + ${LEASE}`,
  further = '',
): string {
  return `
WITH${further}
-- Due deliveries without a lease; skips locked rows.
found AS MATERIALIZED (
  SELECT d.id, ${IS_OFF} AS is_off, d.claimed_until IS NOT NULL AS is_expired
  -- The subqueries hide the arrays from the planner, which would otherwise plan each execution again.
  FROM unnest((SELECT @webhookIds::bigint[]), (SELECT @most::integer[]), (SELECT @dueForMs::float8[]))
    AS a(webhook_id, most, due_for_ms)
  JOIN LATERAL (SELECT * FROM webhooks WHERE id = a.webhook_id LIMIT 1) w ON ${mayBeSent}
  CROSS JOIN LATERAL (
    SELECT id, generation, claimed_until FROM deliveries
    WHERE webhook_id = a.webhook_id AND state = 'pending' AND ${isAskedFor}
      AND ${IS_CLAIMABLE} AND next_attempt_at >= now() - make_interval(secs => a.due_for_ms / 1000)
      AND ${withinDays('id', day)}
    ORDER BY next_attempt_at, id LIMIT a.most
    FOR NO KEY UPDATE SKIP LOCKED
  ) d
),${cancelOrLease(day, 'true', ofLeased)}
${loadClaimed(day)}`;
}

/**
 * The deliveries `found` that may be claimed: cancels those whose subscription is off, and leases the others.
 * @param may which of them may be claimed
 * @param ofLeased `next_attempt_at` of a leased delivery
 */
export const cancelOrLease = (day: Day, may: string, ofLeased: string): string => `
-- Done here because these rows were found anyway.
cancelled AS (
  UPDATE deliveries d
  SET state = 'cancelled', completed_at = now(), claimed_until = NULL,
    reason = (SELECT ${OFF_REASON} FROM webhooks w WHERE w.id = d.webhook_id)
  WHERE d.id = ANY (ARRAY(SELECT id FROM found WHERE ${may} AND is_off)) AND ${withinDays('d.id', day)}
  RETURNING d.webhook_id, d.reason
),
lost AS (${countLosses('cancelled')}
),
leased AS (
  UPDATE deliveries d
  -- As the index on pending rows shows it as due when its lease ends, queries for due ones read no leased rows.
  SET takes = d.takes + 1, claimed_until = now() + ${LEASE}, next_attempt_at = ${ofLeased}
  WHERE d.id = ANY (ARRAY(SELECT id FROM found WHERE ${may} AND NOT is_off)) AND ${withinDays('d.id', day)}
  RETURNING ${LEASED}
)`;

/** Loads what {@link cancelOrLease} has leased. @param others further columns */
export const loadClaimed = (day: Day, others = ''): string => `${loadLeased(
  day,
  `, w.id = ANY (@probes::bigint[]) AS "isProbe",
  d.id = ANY (ARRAY(SELECT id FROM found WHERE is_expired)) AS "isExpired"${others}`,
)}
ORDER BY d.id`;

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
