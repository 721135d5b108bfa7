/**
 * Everything that happened to an installation. Times are in ms of the machine's clock, which the harness and PostgreSQL
 * share. The clocks of the service's processes are not used.
 */
export interface History {
  subscriptions: readonly Subscription[];
  /** Events that were answered with 202. */
  accepted: readonly Accepted[];
  /** The ids of events that each follower of the feed got, in their order. */
  feeds: readonly (readonly string[])[];
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
  /** Its first target, like {@link Call.target}. */
  target: string;
  /** The pace that it had all the time. */
  maxPerSecond?: number;
  maxConcurrent?: number;
  ordered?: boolean;
}

/** A time span. `to` is Infinity for what may still happen. */
export interface Span {
  from: number;
  to: number;
}

/** An event that was reported at `from` and answered at `to`. It was stored in between. */
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
  /** Its `webhook-timestamp` in ms. A worker leased the delivery within that second. */
  signedAt: number;
  /** Whether the connection had been used before. */
  reused: boolean;
  /** Status of the answer, if there was one. */
  answer?: number;
  /** When the whole answer was written. */
  writtenAt?: number;
  /** When the receiver was finished with it: answered, or disconnected. */
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
  /** Failed attempts of the present schedule that do not count in it. */
  extraAttempts: number;
  leasedUntil?: number;
}

export interface Attempt {
  delivery: string;
  take: number;
  number: number;
  /** When a worker leased the delivery for it. */
  at: number;
  durationMs: number;
  status?: number;
  error?: string;
  /** The answer's Retry-After. */
  retryAfterMs?: number;
  /** Process id of the worker. */
  worker?: string;
}

/**
 * A request to the API that took effect between its start and its answer. `to` is Infinity if no answer tells whether
 * it did. Refused requests are omitted.
 */
export type Action = Span &
  (
    | { kind: 'pause' | 'resume' | 'off' | 'on'; subscription: string }
    | { kind: 'target'; subscription: string; target: string }
    | { kind: 'cancel' | 'redeliver' | 'send'; delivery: string }
    /** `to` is the time at which it had processed all its deliveries. */
    | { kind: 'replay'; subscription: string; states: readonly string[] }
  );

/** A fault of one worker, or of all if none is named: it was killed, frozen, or could not reach PostgreSQL. */
export interface Harm extends Span {
  kind: 'killed' | 'frozen' | 'cut off';
  /** Process id. */
  worker?: string;
}

/** The expected behaviour. */
export interface Expectations {
  /** Delays before retries, ms. */
  schedule: readonly number[];
  /**
   * How late an attempt may start after it is due, in ms, not counting pauses, holds and faults. Without it, only early
   * attempts are violations.
   */
  latestMs?: number;
}

/** A broken promise. */
export interface Violation {
  rule: string;
  delivery?: string;
  /** A description for people. */
  text: string;
}
