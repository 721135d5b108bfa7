/**
 * What happened to an installation, from every side. Times are in ms by the machine's clock, which
 * the harness and PostgreSQL share; clocks of the service's processes are not used.
 */
export interface History {
  subscriptions: readonly Subscription[];
  /** Events that were answered with 202. */
  accepted: readonly Accepted[];
  calls: readonly Call[];
  /** All rows of PostgreSQL at `endedAt`. */
  deliveries: readonly Delivery[];
  attempts: readonly Attempt[];
  actions: readonly Action[];
  harms: readonly Harm[];
  endedAt: number;
}

export interface Subscription {
  id: string;
  /** Where it led at first, as {@link Call.target}. */
  target: string;
}

/** A span of time. `to` is Infinity for what may still happen. */
export interface Span {
  from: number;
  to: number;
}

/** Reported `from`, answered `to`: it was stored in between. */
export interface Accepted extends Span {
  eventId: string;
}

/** A request that arrived at the receiver. */
export interface Call {
  /** Its `webhook-id`. */
  delivery: string;
  /** Path and query. */
  target: string;
  /** Process id of the worker that made it. */
  worker: string;
  at: number;
  /** Its `webhook-timestamp` in ms: it was taken in the second that begins then. */
  signedAt: number;
  /** Whether it came on a connection that had been used before. */
  reused: boolean;
  /** Status of the answer, when there was one. */
  answer?: number;
  /** When the whole answer was written. */
  writtenAt?: number;
  /** When it was over for the receiver: answered, or its connection ended. */
  endedAt: number;
}

export interface Delivery {
  id: string;
  eventId: string;
  /** Id of the subscription. */
  subscription: string;
  createdAt: number;
  state: string;
  reason?: string;
  attempts: number;
  scheduleBase: number;
  leasedUntil?: number;
}

export interface Attempt {
  delivery: string;
  take: number;
  number: number;
  /** When it was taken. */
  at: number;
  durationMs: number;
  status?: number;
  error?: string;
  /** What the answer asked for. */
  retryAfterMs?: number;
  /** Process id of the worker. */
  worker?: string;
}

/**
 * A request to the API that took effect between being sent and answered; `to` is Infinity when its
 * answer does not say whether it did. Refused ones are left out.
 */
export type Action = Span &
  (
    | { kind: 'pause' | 'resume' | 'off' | 'on'; subscription: string }
    | { kind: 'target'; subscription: string; target: string }
    | { kind: 'cancel' | 'redeliver'; delivery: string }
    /** `to` is when it was through with all its deliveries. */
    | { kind: 'replay'; subscription: string; states: readonly string[] }
  );

/**
 * What was done to a worker, or to all when none is named: it was killed, frozen, or could not reach
 * PostgreSQL.
 */
export interface Harm extends Span {
  kind: 'killed' | 'frozen' | 'cut off';
  /** Process id. */
  worker?: string;
}

/** What to expect. */
export interface Expectations {
  /** Delays before retries, ms. */
  schedule: readonly number[];
  /**
   * How much later than due an attempt may start, ms, pauses, holds and harm not counted. Without it
   * only "not too early" is checked.
   */
  latestMs?: number;
}

/** Something that must not be. */
export interface Violation {
  rule: string;
  delivery?: string;
  /** What was found, for people. */
  text: string;
}
