/**
 * The life of a subscription: what its target's answers do to it, what its customer does, what keeps
 * its deliveries from being sent. All rules are here, as pure functions; adapters carry out what they
 * decide. docs/states.md draws them.
 */

/** Values that only the database can tell: its clock's time, and one more than what is stored. */
export const NOW = Symbol('now');
export const NEXT = Symbol('next');

/** Why the service switched a subscription off: its target answered 410, or failed for days. */
export const DISABLED_REASONS = ['gone', 'failing'] as const;
export type DisabledReason = (typeof DISABLED_REASONS)[number];

/** What an attempt did to the circuit, or to the whole subscription. */
export const HEALTH_CHANGES = ['opened', 'closed', 'switched_off'] as const;
export type HealthChange = (typeof HEALTH_CHANGES)[number];

/** The circuit opens after so many failures in a row; more are not counted. */
export const OPENS_AFTER = 10;
/** A burst of failures opens nothing: the first of them has to be so long ago. */
export const OPENS_AFTER_MS = 30_000;
/** For how long it opens. Each probe that fails doubles that, up to the longest. */
export const FIRST_OPENING_MS = 30_000;
export const LONGEST_OPENING_MS = 3_600_000;
/** A subscription that has only failed for so long is switched off. */
export const FAILING_MS = 5 * 24 * 3_600_000;

/** The stored health of a target. Times are in ms from now, by PostgreSQL's clock. */
export interface Health {
  /** Failed attempts in a row, counted to {@link OPENS_AFTER}. */
  failures: number;
  /** How long ago the first of them was; null: the last attempt succeeded, or there was none. */
  failingMs: number | null;
  /** How often the circuit opened since it was last closed. */
  openings: number;
  /** Until its time has come; null: it is closed. */
  openMs: number | null;
}

/** Half-open: its time has come, and the next delivery that is due is the probe. */
export type Circuit = 'closed' | 'open' | 'half_open';

export function circuitOf({ openMs }: Pick<Health, 'openMs'>): Circuit {
  if (openMs === null) return 'closed';
  return openMs > 0 ? 'open' : 'half_open';
}

/** The same health some time later. */
export function healthAfter(health: Health, ms: number): Health {
  const { failingMs, openMs } = health;
  return {
    ...health,
    failingMs: failingMs === null ? null : failingMs + ms,
    openMs: openMs === null ? null : openMs - ms,
  };
}

/** How an attempt ended, as far as it tells of the target. */
export type Verdict =
  | { kind: 'succeeded' }
  /** A failed test says nothing of the target, but what it asks for counts. */
  | { kind: 'failed'; test?: boolean; retryAfterMs?: number }
  | { kind: 'gone' };

/** Verdicts of one target in their order, as far as they matter: a success erases the failures before it. */
export interface Verdicts {
  succeeded: boolean;
  /** After the success, if there was one. */
  failures: number;
  /** Nothing that comes after a 410 matters. */
  gone: boolean;
  /** The longest that the target asked for; 0: for none. */
  holdMs: number;
}

export function verdictsOf(verdict: Verdict): Verdicts {
  return {
    succeeded: verdict.kind === 'succeeded',
    failures: verdict.kind === 'failed' && verdict.test !== true ? 1 : 0,
    gone: verdict.kind === 'gone',
    holdMs: (verdict.kind === 'failed' && verdict.retryAfterMs) || 0,
  };
}

/** @param ms how much later the second came */
export function followedBy(first: Verdicts, then: Verdicts, ms: number): Verdicts {
  const failures = then.succeeded ? then.failures : first.failures + then.failures;
  return {
    succeeded: first.succeeded || then.succeeded,
    failures: Math.min(failures, OPENS_AFTER),
    gone: first.gone || then.gone,
    holdMs: Math.max(first.holdMs - ms, then.holdMs),
  };
}

/** What verdicts change. */
export interface Decision {
  /** The new health; `failingSince` is kept, or is now, or none. */
  health?: Pick<Health, 'failures' | 'openings' | 'openMs'> & {
    failingSince: 'kept' | typeof NOW | null;
  };
  /** Nothing is sent for so long, unless it is held for longer already. */
  holdMs?: number;
  off?: DisabledReason;
  /** What to tell of it. */
  change?: HealthChange;
  /** What is accepted from now on must not overtake what waits. */
  backlog?: true;
}

/** Whether nothing more is to be sent now. */
export function blocks({ off, holdMs, health }: Decision): boolean {
  return off !== undefined || holdMs !== undefined || (health?.openMs ?? 0) > 0;
}

/** What verdicts change of a subscription that is on; undefined: nothing. */
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
  // It began before the circuit opened, or is told for a second time.
  if (failures === 0 || circuit === 'open') return undefined;
  const { failingMs } = health;
  if (circuit === 'half_open') {
    // Only by a probe: before, nobody was warned, and what fails may do so for a second.
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

/** When the next failure switches the subscription off: not before a probe, which is what fails then. */
export function disablesAt(failingSince: Date, openUntil: Date): Date {
  return new Date(Math.max(failingSince.getTime() + FAILING_MS, openUntil.getTime()));
}

/** The health of a target that was not called yet, as it is stored. */
export const HEALTHY = { failures: 0, failingSince: null, openUntil: null, openings: 0 } as const;

/** Whatever is pending counts as cancelled from now on, and a worker writes that to its rows. */
const CANCELLED = { generation: NEXT, cancelling: true } as const;

/** What follows when a subscription is switched off. @param reason null: its customer did it */
export function switchedOff(reason: DisabledReason | null) {
  return {
    enabled: false,
    disabledReason: reason,
    disabledAt: reason === null ? null : NOW,
    ...CANCELLED,
  } as const;
}

/** What follows when its customer switches it on. */
export const SWITCHED_ON = {
  enabled: true,
  disabledReason: null,
  disabledAt: null,
  ...HEALTHY,
} as const;

/** Its row stays while deliveries of it are kept, without what is large or of use to somebody else. */
export const DELETED = {
  deletedAt: NOW,
  payload: null,
  headers: null,
  userinfo: null,
  ...CANCELLED,
} as const;

/** What is accepted after it was resumed must not overtake what waited. */
export const PAUSED = { paused: true, backlog: true } as const;

/**
 * Resuming lifts the pause alone: a hold and an open circuit stay. But the time of the pause is none
 * in which its target failed, so the days after which it is switched off begin anew.
 */
export function resumed({ failingSince }: { failingSince: Date | null }) {
  return { paused: false, ...(failingSince && ({ failingSince: NOW } as const)) } as const;
}

/** What follows from a new target: it was the old one that failed, or asked for a hold. */
export const RETARGETED = { targetVersion: NEXT, holdUntil: null, ...HEALTHY } as const;
