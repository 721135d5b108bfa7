/** Whether deliveries of subscription `w` wait though they are due: held, paused, circuit open. */
export const IS_HELD = `(
    w.paused OR coalesce(w.hold_until > now(), false) OR coalesce(w.open_until > now(), false)
  )`;

/**
 * Whether a new delivery of subscription `w` may go onto the queue at once. What is behind others
 * waits for its turn, and so does what is for a target that fails: the feeder sees to it that such
 * targets together leave slots to all others.
 */
export const GOES_AT_ONCE = `(NOT w.backlog AND w.failing_since IS NULL AND NOT ${IS_HELD})`;
