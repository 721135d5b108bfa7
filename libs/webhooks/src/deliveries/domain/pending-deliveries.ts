import type { Attempt, DeliveryJob, DeliveryReason } from './delivery.js';
import type { DueClaim } from './due-schedule.js';
import type { RetryPolicy } from '../../subscriptions/domain/retry-policy.js';
import type { KnownHealth } from './target-verdicts.js';

/** A delivery that this worker has under a lease, with its event, and its subscription as it is now. */
export interface LeasedDelivery {
  id: string;
  /** The number of the attempt to make. */
  attempt: number;
  /** The number of the lease: what comes back under an older one has lost the delivery. */
  lease: number;
  /** When the lease was asked for and when it ends, at the earliest, in ms of this process' monotonic clock. */
  leasedAt: number;
  leaseEnds: number;
  /** Attempts that were recorded when the schedule last began. */
  scheduleBase: number;
  /** One attempt at once, whatever blocks the subscription: a test. */
  immediate: boolean;
  /** It is sent again by a replay, of which its receiver is told. */
  replayed: boolean;
  createdAt: Date;
  /** PostgreSQL's clock when the lease began: what is known of the subscription is from then. */
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
    health: KnownHealth;
    /** New deliveries do not go onto the queue, since others wait. */
    backlog: boolean;
    /** @throws UnreadableSecretError */
    openTarget: () => OpenTarget;
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

/** What becomes of a delivery after an attempt. */
export type Conclusion =
  | { state: 'succeeded' }
  | { state: 'exhausted'; reason: DeliveryReason }
  | { state: 'pending'; delayMs: number };

/** An attempt that was made, and what follows from it. */
export interface Outcome {
  id: string;
  lease: number;
  attempt: Attempt;
  conclusion: Conclusion;
  /** The schedule that the conclusion follows, and what follows where it was begun anew meanwhile. */
  scheduleBase: number;
  afresh: Conclusion;
}

/** The deliveries that are not finished, as a worker needs them. Concurrent calls share statements. */
export abstract class PendingDeliveries {
  /**
   * Takes over the delivery of a job from the queue.
   * @returns undefined: finished, leased to another, locked, or not to be sent now
   */
  abstract take(job: DeliveryJob): Promise<LeasedDelivery | undefined>;

  /**
   * Leases deliveries that are due, straight from PostgreSQL, the oldest first. Of a subscription that is
   * off they are cancelled instead.
   * @param claims all of that day
   */
  abstract claim(
    day: number,
    claims: readonly DueClaim[],
    kind?: { tests: boolean },
  ): Promise<LeasedDelivery[]>;

  /** Gives back what was not sent: it is due at once, for any worker. */
  abstract release(delivery: LeasedDelivery): Promise<void>;

  /** An outcome that comes after a newer one is logged and changes nothing. */
  abstract record(outcome: Outcome): Promise<void>;
}
