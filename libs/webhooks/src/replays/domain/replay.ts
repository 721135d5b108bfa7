import { DomainError } from '#libs/kernel';
import type { SendOutlook } from '../../subscriptions/domain/send-outlook.js';

/** The states of finished deliveries. */
export const REPLAYABLE_STATES = ['succeeded', 'exhausted', 'cancelled'] as const;
export type ReplayableState = (typeof REPLAYABLE_STATES)[number];

/** The states that a replay can select. It sends pending deliveries now and keeps their schedules. */
export const SENDABLE_STATES = ['pending', ...REPLAYABLE_STATES] as const;
export type SendableState = (typeof SENDABLE_STATES)[number];

/** Which deliveries of an account a replay sends, or which events of a subscription. */
export interface ReplayFilter {
  /** Absent for all enabled subscriptions of the account. */
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

/**
 * Why a replay leaves out deliveries that its filter selects: their subscription is disabled or deleted, or they are
 * tests or of erased events.
 */
export const LEFT_OUT_REASONS = ['off', 'deleted', 'test', 'erased'] as const;
export type LeftOutReason = (typeof LEFT_OUT_REASONS)[number];

/** How many deliveries are left out, by reason; only the reasons that occur. */
export type LeftOut = Partial<Record<LeftOutReason, number>>;

export function leaveOut(total: LeftOut, reason: LeftOutReason, count: number): void {
  if (count > 0) total[reason] = (total[reason] ?? 0) + count;
}

export function sumOf(leftOut: LeftOut): number {
  return Object.values(leftOut).reduce((sum, count) => sum + count, 0);
}

/** What a replay would send, and what would become of it. */
export interface ReplayCount extends SendOutlook {
  deliveries: number;
  leftOut: number;
  leftOutFor: LeftOut;
}

export type ReplayState = 'running' | 'completed' | 'cancelled';

/** Sends finished deliveries of a time range again, pending ones now, or missed events. */
export interface Replay extends ReplayFilter {
  id: string;
  until: Date;
  state: ReplayState;
  /** How many deliveries matched when the replay was requested. */
  total: number;
  /** How many deliveries were started. */
  replayed: number;
  /** Further deliveries that its filter selects, among them those of subscriptions that were disabled or deleted since. */
  leftOutFor: LeftOut;
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
        ? `An account can have at most ${MAX_RUNNING} running replays of all its subscriptions.`
        : `A webhook subscription can have at most ${MAX_RUNNING} running replays.`;
    super('conflict', 'replay_limit_reached', message);
  }
}

/** A completed replay cannot be cancelled. */
export class ReplayFinishedError extends DomainError {
  constructor() {
    super('conflict', 'replay_finished', 'The replay is completed.');
  }
}
