import { DomainError } from '#libs/kernel';

/** The time of an outage of the service: from `since`, inclusive, to `until`, exclusive. */
export interface OutageSpan {
  since: Date;
  until: Date;
}

/** What a recovery does, or would do. */
export interface RecoveryCount {
  /** Subscriptions that it changes, or whose deliveries it sends again. */
  subscriptions: number;
  circuitsClosed: number;
  switchedOn: number;
  /** Deliveries that are sent again, and events that were missed while a subscription was disabled. */
  deliveries: number;
}

export type RecoveryState = 'running' | 'completed';

/** Undoes the effects of an outage of the service on subscriptions (contract, section 11). */
export interface Recovery extends OutageSpan, RecoveryCount {
  id: string;
  /** Running until all subscriptions were looked at and the replays of their deliveries have ended. */
  state: RecoveryState;
  /** The number of these deliveries that have started again. */
  sent: number;
  createdAt: Date;
  completedAt?: Date;
}

/** Another recovery has not looked at all subscriptions yet. */
export class RecoveryRunningError extends DomainError {
  constructor() {
    super(
      'conflict',
      'recovery_running',
      'Another recovery is still searching for subscriptions: start a new one when it has ended.',
    );
  }
}
