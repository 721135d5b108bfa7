import { DomainError } from '#libs/kernel';
import type { SendOutlook } from '../../subscriptions/domain/send-outlook.js';

/** The states of finished deliveries. */
export const REPLAYABLE_STATES = ['succeeded', 'exhausted', 'cancelled'] as const;
export type ReplayableState = (typeof REPLAYABLE_STATES)[number];

/** The states that a replay can select: a waiting delivery is sent at once, with its schedule kept. */
export const SENDABLE_STATES = ['pending', ...REPLAYABLE_STATES] as const;
export type SendableState = (typeof SENDABLE_STATES)[number];

/** Which deliveries of an account a replay sends, or which events of a subscription. */
export interface ReplayFilter {
  /** Absent for all subscriptions of the account that are on. */
  webhookId?: string;
  /** Created at or after. */
  since: Date;
  /** Created before; at most, and by default, now. */
  until?: Date;
  /** None if it sends missed events. */
  states: readonly SendableState[];
  /** Sends the subscription the events that it is for and has no delivery of. */
  missed?: true;
  event?: string;
  applicationId?: string;
  /** The result of the last attempt: a status such as `404`, a class such as `5xx`, an error, or `failed`. */
  status?: string;
}

/** What a replay would send, and what would become of it. */
export interface ReplayCount extends SendOutlook {
  deliveries: number;
  /** Further deliveries that the filter selects, of subscriptions that are off. */
  leftOut: number;
  /** The same by reason. */
  leftOutFor: { off?: number };
}

export type ReplayState = 'running' | 'completed' | 'cancelled';

/** Sends the finished deliveries of a time range again, those that wait at once, or missed events. */
export interface Replay extends ReplayFilter {
  id: string;
  until: Date;
  state: ReplayState;
  /** How many deliveries there were when the replay was requested. */
  total: number;
  /** How many were restarted, started, or sent at once. */
  replayed: number;
  createdAt: Date;
  completedAt?: Date;
}

/** Limit of running replays of a subscription, or of an account. All except the first wait. */
export const MAX_RUNNING = 10;

/** Limit of new replays of a subscription, or of an account: each sends its whole time range again. */
export const STARTED = { times: 20, withinMs: 3_600_000 };

export class ReplayLimitError extends DomainError {
  constructor({ webhookId }: Pick<ReplayFilter, 'webhookId'>) {
    const message =
      webhookId === undefined
        ? `An account has at most ${MAX_RUNNING} replays of all its subscriptions running.`
        : `A webhook subscription has at most ${MAX_RUNNING} replays running.`;
    super('conflict', 'replay_limit_reached', message);
  }
}

/** A completed replay cannot be cancelled. */
export class ReplayFinishedError extends DomainError {
  constructor() {
    super('conflict', 'replay_finished', 'The replay is completed.');
  }
}
