import type { Attempt, DeliveryReason } from '../../deliveries/domain/delivery.js';
import type { DeliveryJob } from '../../queue/domain/delivery-queue.js';
import type { DueClaim, Pace } from './due-schedule.js';
import type { RetryPolicy } from '../../subscriptions/domain/retry-policy.js';
import type { Health } from '../../subscriptions/domain/subscription-life.js';

/** The health of a target as it was last read, with the claim of a delivery or later. */
export interface KnownHealth extends Health {
  /** The exact stored values: a decision applies only while these are unchanged. */
  stored: string;
  /** When it was read, in ms of `performance.now()`. */
  readAt: number;
}

/** A delivery that this worker has leased, with its event and the present state of its subscription. */
export interface LeasedDelivery {
  id: string;
  /** The number of the attempt to make. */
  attempt: number;
  /** The number of the lease. A worker that returns with an older number has lost the delivery. */
  lease: number;
  /** When the lease was requested, and its earliest end, in ms of this process's monotonic clock. */
  leasedAt: number;
  leaseEnds: number;
  /** How many attempts were recorded when the schedule last started. */
  scheduleBase: number;
  /** Sent at once, even if the subscription is blocked: a test, which has one attempt, or at its customer's request. */
  immediate: boolean;
  /** Whether the attempt is outside the schedule, which goes on after it as if it had not been made. */
  isExtra: boolean;
  /** How many such attempts have failed since the schedule last started. */
  extraAttempts: number;
  /** Sent again by a replay, which a header shows to the receiver. */
  replayed: boolean;
  createdAt: Date;
  /** When the lease began, by PostgreSQL's clock. The subscription was read at this time. */
  takenAt: Date;
  event: {
    accountId: string;
    applicationId: string | null;
    event: string;
    resource: string;
    occurredAt: Date;
    test: boolean;
    /** The span in which the event was accepted (W3C Trace Context). */
    traceparent: string | null;
    data: string;
  };
  webhookId: string;
  subscription: {
    name: string | null;
    payload: string | null;
    retry: RetryPolicy | null;
    targetVersion: number;
    health: KnownHealth;
    /** New deliveries bypass the queue because others wait in PostgreSQL. */
    backlog: boolean;
    pace: Pace;
    /** ms from the claim until the rate allows the next one; 0 without a rate. */
    pacedMs: number;
    /** @throws UnreadableSecretError */
    openTarget: () => OpenTarget;
  };
}

/** Whether no other of the subscription may be sent, or only a few, until this delivery is recorded or released. */
export function holdsPlace({ subscription: { pace } }: LeasedDelivery): boolean {
  return pace === 'order' || pace === 'concurrency';
}

/** The secrets of a target, opened for a call. */
export interface OpenTarget {
  /** Includes its user information. */
  url: string;
  headers: Record<string, string>;
  /** Secrets that sign the notification, newest first. */
  secrets: string[];
}

/** The state of a delivery after an attempt. */
export type Conclusion =
  | { state: 'succeeded' }
  | { state: 'exhausted'; reason: DeliveryReason }
  /** `resumes`: the delivery waits as long as it did before the attempt, if that is longer than `delayMs`. */
  | { state: 'pending'; delayMs: number; resumes?: true };

/** An attempt and its effect on the delivery. */
export interface Outcome {
  id: string;
  lease: number;
  attempt: Attempt;
  conclusion: Conclusion;
  /** The schedule of `conclusion`. */
  scheduleBase: number;
  /** The conclusion if the schedule was restarted during the attempt. */
  ifRestarted: Conclusion;
  /** Others of the subscription may wait for the record; see {@link holdsPlace}. */
  holdsPlace?: boolean;
}

/** PostgreSQL refuses the record of an outcome, and would refuse it again. */
export class RefusedOutcomeError extends Error {
  constructor(cause: unknown) {
    super('the outcome was refused', { cause });
  }
}

/** A worker's access to unfinished deliveries. Concurrent calls share statements. */
export abstract class PendingDeliveries {
  /**
   * Loads the delivery of a queue job, which has its lease.
   * @returns undefined if it is finished, was leased again since, or is blocked, which ends the lease of the job
   */
  abstract load(job: DeliveryJob): Promise<LeasedDelivery | undefined>;

  /**
   * Leases due deliveries directly from PostgreSQL, oldest first. Cancels them instead if their
   * subscription is disabled.
   * @param claims at least one; all of the same day, either all immediate or none, and either all with a pace or none
   */
  abstract claim(claims: readonly DueClaim[]): Promise<LeasedDelivery[]>;

  /** Ends the lease of an unsent delivery, which is then due for any worker, at once or after `delayMs`. */
  abstract release(delivery: LeasedDelivery, delayMs?: number): Promise<void>;

  /** Whether any delivery of a subscription has ever succeeded, as far as it was stored ten seconds ago. */
  abstract hasSucceeded(webhookId: string): Promise<boolean>;

  /**
   * Records an outcome. Under an outdated lease, it is only logged unless the attempt succeeded.
   * @throws RefusedOutcomeError if that will not work later either
   */
  abstract record(outcome: Outcome): Promise<void>;
}
