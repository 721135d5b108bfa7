/**
 * The life of a subscription: what the target's answers and the customer's requests change, and what
 * blocks its deliveries. All rules are pure functions in this file; adapters carry out their decisions.
 * docs/states.md draws them.
 */

import { FAILING_MS, type NoticeKind } from '../../event-kinds/domain/event-kinds.js';

/** Values that only the database knows: its current time, and the stored value plus one. */
export const NOW = Symbol('now');
export const NEXT = Symbol('next');

/** Why the service disabled a subscription: the target responded with 410, or failed for days. */
export const DISABLED_REASONS = ['gone', 'failing'] as const;
export type DisabledReason = (typeof DISABLED_REASONS)[number];

/** How an attempt changed the circuit or the whole subscription. */
export const HEALTH_CHANGES = ['opened', 'closed', 'switched_off'] as const;
export type HealthChange = (typeof HEALTH_CHANGES)[number];

/** The circuit opens after this many failures in a row. Further failures are not counted. */
export const OPENS_AFTER = 10;
/** A short burst does not open the circuit: the first failure must be at least this old. */
export const OPENS_AFTER_MS = 30_000;
/** How long the circuit stays open at first. Each failed probe doubles the time, up to the longest. */
export const FIRST_OPENING_MS = 30_000;
export const LONGEST_OPENING_MS = 3_600_000;

/** The stored health of a target. Times are in ms relative to now, by PostgreSQL's clock. */
export interface Health {
  /** Failed attempts in a row, up to {@link OPENS_AFTER}. */
  failures: number;
  /** Age of the first of these failures; null if the last attempt succeeded or none was made. */
  failingMs: number | null;
  /** How often the circuit has opened since it was last closed. */
  openings: number;
  /** Time until the circuit is half-open; null while it is closed. */
  openMs: number | null;
}

/** Half-open: the open time is over, and the next due delivery is the probe. */
export type Circuit = 'closed' | 'open' | 'half_open';

export function circuitOf({ openMs }: Pick<Health, 'openMs'>): Circuit {
  if (openMs === null) return 'closed';
  return openMs > 0 ? 'open' : 'half_open';
}

/** The same health, `ms` later. */
export function healthAfter(health: Health, ms: number): Health {
  const { failingMs, openMs } = health;
  return {
    ...health,
    failingMs: failingMs === null ? null : failingMs + ms,
    openMs: openMs === null ? null : openMs - ms,
  };
}

/** What an attempt shows about the target. */
export type Verdict =
  | { kind: 'succeeded' }
  /** A failed immediate delivery, such as a test, does not count as a failure, but its `Retry-After` does count. */
  | { kind: 'failed'; immediate?: boolean; retryAfterMs?: number }
  | { kind: 'gone' };

/** Consecutive verdicts on one target, combined. A success erases the failures before it. */
export interface Verdicts {
  succeeded: boolean;
  /** Failures after the last success, if there was one. */
  failures: number;
  /** The target answered 410; later verdicts do not matter. */
  gone: boolean;
  /** The longest hold that the target asked for; 0 for none. */
  holdMs: number;
}

export function verdictsOf(verdict: Verdict): Verdicts {
  return {
    succeeded: verdict.kind === 'succeeded',
    failures: verdict.kind === 'failed' && verdict.immediate !== true ? 1 : 0,
    gone: verdict.kind === 'gone',
    holdMs: (verdict.kind === 'failed' && verdict.retryAfterMs) || 0,
  };
}

/** Combines two verdicts. @param ms time between them */
export function followedBy(first: Verdicts, then: Verdicts, ms: number): Verdicts {
  const failures = then.succeeded ? then.failures : first.failures + then.failures;
  return {
    succeeded: first.succeeded || then.succeeded,
    failures: Math.min(failures, OPENS_AFTER),
    gone: first.gone || then.gone,
    holdMs: Math.max(first.holdMs - ms, then.holdMs),
  };
}

/** What verdicts change about a subscription. */
export interface Decision {
  /** The new health; `failingSince` stays, becomes now, or is cleared. */
  health?: Pick<Health, 'failures' | 'openings' | 'openMs'> & {
    failingSince: 'kept' | typeof NOW | null;
  };
  /** Send nothing for this long. A longer hold stays in force. */
  holdMs?: number;
  off?: DisabledReason;
  /** The change to log. */
  change?: HealthChange;
  /** Deliveries accepted from now on must not overtake waiting ones. */
  backlog?: true;
}

/** Whether the decision stops sending for now. */
export function blocks({ off, holdMs, health }: Decision): boolean {
  return off !== undefined || holdMs !== undefined || (health?.openMs ?? 0) > 0;
}

/** The notice that other subscriptions get. A failed probe causes none. */
export function noticeOf({ change, health }: Decision): NoticeKind | undefined {
  if (change === 'switched_off') return 'webhookDisabled';
  if (change === 'closed') return 'webhookRecovered';
  return change === 'opened' && health?.openings === 1 ? 'webhookFailing' : undefined;
}

/** What verdicts change about an enabled subscription; undefined if nothing. */
export function decide(health: Health, verdicts: Verdicts): Decision | undefined {
  if (verdicts.gone) return { off: 'gone', change: 'switched_off' };
  const { holdMs } = verdicts;
  const decision = verdicts.succeeded
    ? afterSuccess(health, verdicts.failures)
    : afterFailures(health, verdicts.failures);
  return holdMs > 0 ? { ...decision, holdMs, backlog: true } : decision;
}

function afterSuccess(health: Health, failures: number): Decision | undefined {
  const wasClosed = circuitOf(health) === 'closed';
  if (wasClosed && health.failingMs === null && failures === 0) return undefined;
  return {
    health: { failures, openings: 0, openMs: null, failingSince: failures > 0 ? NOW : null },
    ...(!wasClosed && { change: 'closed', backlog: true }),
  };
}

function afterFailures(health: Health, failures: number): Decision | undefined {
  const circuit = circuitOf(health);
  // The attempt began before the circuit opened, or its verdict arrived twice.
  if (failures === 0 || circuit === 'open') return undefined;
  const { failingMs } = health;
  if (circuit === 'half_open') {
    // Only a failed probe disables a subscription: before one, the customer had no warning and failures may be brief.
    const isOver = failingMs !== null && failingMs >= FAILING_MS;
    return isOver ? { off: 'failing', change: 'switched_off' } : opened(health);
  }
  const counted = Math.min(health.failures + failures, OPENS_AFTER);
  if (counted === OPENS_AFTER && failingMs !== null && failingMs >= OPENS_AFTER_MS) {
    return opened(health);
  }
  if (counted === health.failures && failingMs !== null) return undefined;
  const { openings } = health;
  return { health: { failures: counted, openings, openMs: null, failingSince: since(health) } };
}

function opened(health: Health): Decision {
  const { openings } = health;
  return {
    health: {
      failures: OPENS_AFTER,
      openings: openings + 1,
      openMs: Math.min(FIRST_OPENING_MS * 2 ** openings, LONGEST_OPENING_MS),
      failingSince: since(health),
    },
    change: 'opened',
    backlog: true,
  };
}

function since({ failingMs }: Health): 'kept' | typeof NOW {
  return failingMs === null ? NOW : 'kept';
}

/** When the next failure disables the subscription. Only a failed probe does, so never before one. */
export function disablesAt(failingSince: Date, openUntil: Date): Date {
  return new Date(Math.max(failingSince.getTime() + FAILING_MS, openUntil.getTime()));
}

/** The stored health of a target that has not been called yet. */
export const HEALTHY = {
  failures: 0,
  failingSince: null,
  openedAt: null,
  openUntil: null,
  openings: 0,
} as const;

/** Pending deliveries count as cancelled from now on; a worker updates their rows later. */
const CANCELLED = { generation: NEXT, cancelling: true } as const;

/** New values of a subscription that is disabled. @param reason null if the customer disabled it */
export function switchedOff(reason: DisabledReason | null) {
  return {
    enabled: false,
    disabledReason: reason,
    disabledAt: reason === null ? null : NOW,
    ...CANCELLED,
  } as const;
}

/** New values of a subscription that the customer enables. Verdicts of earlier calls no longer count. */
export const SWITCHED_ON = {
  enabled: true,
  targetVersion: NEXT,
  disabledReason: null,
  disabledAt: null,
  ...HEALTHY,
} as const;

/** The row stays as long as its deliveries are kept, but without large or secret values. */
export const DELETED = {
  deletedAt: NOW,
  payload: null,
  filter: null,
  filterId: null,
  headers: null,
  userinfo: null,
  ...CANCELLED,
} as const;

/** Deliveries accepted after a resume must not overtake those that waited. */
export const PAUSED = { paused: true, backlog: true } as const;

/** Without a pace, deliveries accepted from now on must not overtake those that waited for it. */
export const UNPACED = { backlog: true, paceWaits: false } as const;

/**
 * Resuming ends only the pause: a hold or an open circuit stays. The target did not fail during the
 * pause, so the time until it is disabled restarts.
 */
export function resumed({ failingSince }: { failingSince: Date | null }) {
  return { paused: false, ...(failingSince && ({ failingSince: NOW } as const)) } as const;
}

/** New values for a new target: the failures and the hold belong to the old one. */
export const RETARGETED = { targetVersion: NEXT, holdUntil: null, ...HEALTHY } as const;
