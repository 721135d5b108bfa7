import { recordBySystem } from '#libs/identity';
import { CLOCK, CLOCK_TIME, later, prepared } from '#libs/runtime';
import type { Notice } from '../../activity/domain/activity.js';
import {
  type Decision,
  type Health,
  noticeOf,
  NOW,
  switchedOff,
} from '../../subscriptions/domain/subscription-life.js';
import type { TargetVerdict } from '../domain/circuit-breaker.js';
import type { KnownHealth } from '../domain/pending-deliveries.js';
import { DISABLES_AT } from '../../subscriptions/webhook-flow.js';
import { assignedWhere, REVISED } from '../../subscriptions/webhook.schema.js';

/** The stored health of subscription `w` as one text for comparison, with exact times in seconds. */
const STORED = `format('%s %s %s %s', w.failures, w.openings,
    extract(epoch FROM w.failing_since), extract(epoch FROM w.open_until))`;
const STORED_OF_HEALTHY = '0 0  ';

/** The {@link HealthColumn} of subscription `w`, also for statements that lease deliveries. */
export const HEALTH = `CASE WHEN w.failures > 0 OR w.openings > 0 OR w.failing_since IS NOT NULL
      OR w.open_until IS NOT NULL
    THEN json_build_object('failures', w.failures, 'openings', w.openings,
      'failingMs', 1000 * extract(epoch FROM now() - w.failing_since),
      'openMs', 1000 * extract(epoch FROM w.open_until - now()), 'stored', ${STORED})
    END`;

/** The value of {@link HEALTH}; null for a healthy target, because most are. */
export type HealthColumn = Omit<KnownHealth, 'readAt'> | null;

const HEALTHY: Health = { failures: 0, failingMs: null, openings: 0, openMs: null };

/** @param readAt by `performance.now()` */
export function knownHealth(column: HealthColumn, readAt: number): KnownHealth {
  return { ...(column ?? { ...HEALTHY, stored: STORED_OF_HEALTHY }), readAt };
}

/** The audit entry for a subscription that the service disabled. */
const SWITCHED_OFF = { action: 'webhook.disable', fields: ['enabled'] } as const;

/** A decision on a target, based on its known health. */
export type Decided = Omit<TargetVerdict, 'verdict'> & { decision: Decision };

/** Converts decisions to arrays, one for each column. Without a new health, its columns are undefined. */
export function decisionValues(all: readonly Decided[]) {
  const health = all.map(({ decision }) => decision.health);
  return {
    webhookIds: all.map(({ webhookId }) => webhookId),
    targetVersions: all.map(({ targetVersion }) => targetVersion),
    stored: all.map(({ known }) => known.stored),
    failures: health.map((after) => after?.failures),
    openings: health.map((after) => after?.openings),
    failing: health.map((after) => (after?.failingSince === NOW ? 'now' : after?.failingSince)),
    openMs: health.map((after) => after?.openMs),
    holdMs: all.map(({ decision }) => decision.holdMs),
    off: all.map(({ decision }) => decision.off),
    backlog: all.map(({ decision }) => decision.backlog === true),
    notices: all.map(({ decision }) => noticeOf(decision)),
  };
}

interface AppliedDecision {
  id: string;
  done: boolean;
  /** The health before the change. */
  health: HealthColumn;
  /** The events that notify other subscriptions of the change; null if none listens. */
  toldBy: Notice[] | null;
}

/**
 * Applies decisions, and tells other subscriptions of them in the same statement. Their
 * deliveries are found by scans like any that is due: putting them onto the queue would save half a second.
 * @returns the subscriptions that are enabled and still have the same target
 */
export const APPLY_DECISIONS = prepared<ReturnType<typeof decisionValues>, AppliedDecision>(
  'verdicts.apply',
  `
WITH ${CLOCK},
decided AS MATERIALIZED (
  SELECT * FROM unnest(@webhookIds::bigint[], @targetVersions::integer[], @stored::text[],
    @failures::integer[], @openings::integer[], @failing::text[], @openMs::float8[],
    @holdMs::float8[], @off::text[], @backlog::boolean[], @notices::text[])
    AS d(webhook_id, target_version, stored, failures, openings, failing, open_ms, hold_ms, off,
      backlog, notice)
),
-- Only subscriptions with unchanged health. Skips locked rows instead of waiting.
locked AS MATERIALIZED (
  SELECT w.id, w.failing_since FROM decided d CROSS JOIN LATERAL (
    SELECT id, failing_since FROM webhooks w
    WHERE w.id = d.webhook_id AND w.target_version = d.target_version AND w.enabled AND w.deleted_at IS NULL
      AND ${STORED} = d.stored
    FOR NO KEY UPDATE SKIP LOCKED
  ) w
),
changed AS (
  UPDATE webhooks w
  SET failures = coalesce(d.failures, w.failures),
    openings = coalesce(d.openings, w.openings),
    failing_since = CASE WHEN d.failures IS NULL OR d.failing = 'kept' THEN w.failing_since
      WHEN d.failing = 'now' THEN ${CLOCK_TIME} END,
    opened_at = CASE WHEN d.failures IS NULL THEN w.opened_at
      WHEN d.open_ms IS NOT NULL THEN coalesce(w.opened_at, ${CLOCK_TIME}) END,
    open_until = CASE WHEN d.failures IS NULL THEN w.open_until
      ELSE ${later('make_interval(secs => d.open_ms / 1000)')} END,
    hold_until = greatest(w.hold_until, ${later('make_interval(secs => d.hold_ms / 1000)')}),
    backlog = w.backlog OR d.backlog,
    ${assignedWhere('d.off', {
      gone: { ...switchedOff('gone'), ...REVISED },
      failing: { ...switchedOff('failing'), ...REVISED },
    })}
  FROM decided d JOIN locked l ON l.id = d.webhook_id
  WHERE w.id = d.webhook_id
  RETURNING w.id, w.account_id, w.failing_since, w.open_until, d.open_ms, d.off, d.notice, l.failing_since AS since
),
told AS MATERIALIZED (
  SELECT w.id, tell_of_webhook(w.id, w.notice, w.since,
    CASE WHEN w.open_ms IS NOT NULL THEN ${DISABLES_AT} END) AS events
  FROM changed w WHERE w.notice IS NOT NULL
),
recorded AS (
  ${recordBySystem(SWITCHED_OFF, 'changed WHERE off IS NOT NULL')}
)
SELECT w.id, c.id IS NOT NULL AS done, ${HEALTH} AS health,
  (SELECT events FROM told WHERE id = w.id) AS "toldBy"
FROM decided d JOIN webhooks w ON w.id = d.webhook_id LEFT JOIN changed c ON c.id = w.id
WHERE w.target_version = d.target_version AND w.enabled AND w.deleted_at IS NULL`,
);
