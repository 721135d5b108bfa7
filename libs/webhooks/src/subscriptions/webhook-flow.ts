import { FAILING_MS } from '../event-kinds/domain/event-kinds.js';

/** Whether subscription `w` sends nothing, not even a probe, because it is paused or held. */
export const IS_STOPPED = `(w.paused OR coalesce(w.hold_until > now(), false))`;

/** Whether due deliveries of subscription `w` wait: it is paused or held, or its circuit is open. */
export const IS_BLOCKED = `(${IS_STOPPED} OR coalesce(w.open_until > now(), false))`;

/** Whether subscription `w` has a pace, which only claims from PostgreSQL keep. */
export const IS_PACED = `(w.max_per_second IS NOT NULL OR w.max_concurrent IS NOT NULL OR w.ordered)`;

/** The strictest limit of subscription `w`; null for most, which have none. */
export const PACE = `CASE WHEN w.ordered THEN 'order' WHEN w.max_concurrent IS NOT NULL THEN 'concurrency'
    WHEN w.max_per_second IS NOT NULL THEN 'rate' END`;

/**
 * Whether a new delivery of subscription `w` may go onto the queue: nothing blocks it, and no older one
 * waits. With a half-open circuit it may not, because probes are sent one at a time.
 */
export const IS_FREE = `(NOT w.backlog AND w.open_until IS NULL AND NOT ${IS_STOPPED} AND NOT ${IS_PACED})`;

/** What `outlookOf()` asks of subscription `w`, besides whether it is behind an earlier replay. */
export const SEND_CONDITIONS = `w.paused, coalesce(w.hold_until > now(), false) AS "isRetryLater",
    CASE WHEN w.open_until > now() THEN 'open' WHEN w.open_until IS NOT NULL THEN 'half-open' ELSE 'closed' END AS circuit,
    w.max_per_second AS "maxPerSecond", w.max_concurrent AS "maxConcurrent", w.ordered,
    w.pace_waits OR (w.ordered AND w.failing_since IS NOT NULL) AS "paceWaits"`;

/** Whether delivery `d` counts as cancelled because its subscription `w` was disabled or deleted. */
export const IS_OFF = `(NOT w.enabled OR w.deleted_at IS NOT NULL OR d.generation < w.generation)`;

/** When the next failed probe switches subscription `w` off, as `disablesAt()` says. */
export const DISABLES_AT = `greatest(w.open_until, w.failing_since + make_interval(secs => ${FAILING_MS / 1_000}))`;

/** Why deliveries of subscription `w` were cancelled. */
export const OFF_REASON = `CASE WHEN w.deleted_at IS NOT NULL THEN 'deleted'
    ELSE coalesce(w.disabled_reason, 'disabled') END`;
