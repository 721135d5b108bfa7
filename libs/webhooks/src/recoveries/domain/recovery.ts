import { DomainError } from '#libs/kernel';

/** The time of an outage on our side: from `since` until before `until`. */
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
  /** Deliveries that are sent again, and events that were missed while a subscription was off. */
  deliveries: number;
}

export type RecoveryState = 'running' | 'completed';

/** Undoes what an outage on our side did to subscriptions (contract, section 11). */
export interface Recovery extends OutageSpan, RecoveryCount {
  id: string;
  /** Running until all subscriptions were looked at and the replays of their deliveries have ended. */
  state: RecoveryState;
  /** How many of the deliveries have begun anew. */
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
