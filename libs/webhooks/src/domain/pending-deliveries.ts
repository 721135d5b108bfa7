import type { Attempt, DeliveryJob, DeliveryReason } from './delivery.js';
import type { RetryPolicy } from './retry-policy.js';

/** A delivery that this worker has taken, with its event, and its subscription as it is now. */
export interface TakenDelivery {
  id: string;
  /** The number of the attempt to make. */
  attempt: number;
  /** How often the delivery was taken, this time included: what comes back is known by it. */
  take: number;
  /** Attempts that were recorded when the schedule last began. */
  scheduleBase: number;
  /** One attempt at once, whatever holds the subscription: a test. */
  immediate: boolean;
  /** It is sent again by a replay, of which its receiver is told. */
  replayed: boolean;
  createdAt: Date;
  /** PostgreSQL's clock when it was taken. */
  takenAt: Date;
  event: {
    accountId: string;
    applicationId?: string;
    event: string;
    resource: string;
    occurredAt: Date;
    test: boolean;
    /** The span in which it was accepted (W3C Trace Context). */
    traceparent?: string;
    data: string;
  };
  webhookId: string;
  subscription: {
    name?: string;
    payload?: string;
    retry?: RetryPolicy;
    targetVersion: number;
    /** @throws UnreadableSecretError */
    openTarget: () => OpenTarget;
    /** Whether it was switched off or deleted since the delivery was made. */
    cancelled: boolean;
    held: boolean;
    backlog: boolean;
    /** Whether its target's last answer that counted was a failure. */
    failing: boolean;
  };
}

/** Where a notification goes, and what goes with it: all that is secret. */
export interface OpenTarget {
  /** With its user information. */
  url: string;
  headers: Record<string, string>;
  /** What it is signed with, the newest first. */
  secrets: string[];
}

/** The target that was called. It may be the subscription's no more. */
export interface CalledTarget {
  webhookId: string;
  targetVersion: number;
}

/** How an attempt ended, as far as it tells of the target. */
export interface Observation extends CalledTarget {
  succeeded: boolean;
}

/** What became of a subscription by an observation. */
export const HEALTH_CHANGES = ['opened', 'closed', 'switched_off'] as const;
export type HealthChange = (typeof HEALTH_CHANGES)[number];

/** What becomes of a delivery after an attempt. */
export type Conclusion =
  | { state: 'succeeded' }
  | { state: 'exhausted'; reason: DeliveryReason }
  | { state: 'pending'; delayMs: number };

/** An attempt that was made, and what follows from it. */
export interface Outcome {
  id: string;
  take: number;
  attempt: Attempt;
  conclusion: Conclusion;
}

/** Why a delivery that was taken goes back unsent. */
export type ReleaseCause = 'held' | 'cancelled' | 'no_share' | 'too_many_tests' | 'stopping';

/** The deliveries that wait, as a worker needs them. Concurrent calls share statements. */
export abstract class PendingDeliveries {
  /** undefined: finished, taken by somebody else, or a job of an attempt long made. */
  abstract take(job: DeliveryJob): Promise<TakenDelivery | undefined>;

  /** Hands back what was taken and not sent. */
  abstract release(taken: TakenDelivery, cause: ReleaseCause): Promise<void>;

  /** An outcome that comes after a newer one is logged and changes nothing. */
  abstract record(outcome: Outcome): Promise<void>;

  /**
   * Counts an attempt for its target's health: opens and closes the circuit, and switches off what
   * has only failed for days. Successes in a row need not be told.
   */
  abstract observe(observation: Observation): Promise<void>;

  /** Switches the subscription off, if what answered 410 is still its target. */
  abstract switchOff(target: CalledTarget): Promise<void>;

  /** Holds all deliveries of the subscription, if what asked for it is still its target. */
  abstract hold(target: CalledTarget, forMs: number): Promise<void>;
}
