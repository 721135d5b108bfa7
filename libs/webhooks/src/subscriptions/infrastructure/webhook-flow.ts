/** Whether nothing is sent for subscription `w`, not even a probe: it is paused or held. */
export const IS_STOPPED = `(w.paused OR coalesce(w.hold_until > now(), false))`;

/** Whether deliveries of subscription `w` wait though they are due: paused, held, or its circuit open. */
export const IS_BLOCKED = `(${IS_STOPPED} OR coalesce(w.open_until > now(), false))`;

/**
 * Whether a new delivery of subscription `w` may go onto the queue: nothing is in its way, and no other
 * waits before it. What is for a circuit whose time has come goes as a probe, one at a time.
 */
export const IS_FREE = `(NOT w.backlog AND w.open_until IS NULL AND NOT ${IS_STOPPED})`;

/** Whether delivery `d` counts as cancelled, since its subscription `w` was switched off or deleted. */
export const IS_OFF = `(NOT w.enabled OR w.deleted_at IS NOT NULL OR d.generation < w.generation)`;

/** Why subscription `w` cancelled its deliveries. */
export const OFF_REASON = `CASE WHEN w.deleted_at IS NOT NULL THEN 'deleted'
    ELSE coalesce(w.disabled_reason, 'disabled') END`;
