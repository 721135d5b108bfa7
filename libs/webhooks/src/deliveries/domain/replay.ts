import { DomainError } from '#libs/kernel';

/** The states of finished deliveries. */
export const REPLAYABLE_STATES = ['succeeded', 'exhausted', 'cancelled'] as const;
export type ReplayableState = (typeof REPLAYABLE_STATES)[number];

/** Which deliveries of a subscription a replay sends again. */
export interface ReplayRange {
  /** Created at or after. */
  since: Date;
  /** Created before; at most, and by default, now. */
  until?: Date;
  states: readonly ReplayableState[];
}

export type ReplayState = 'running' | 'completed' | 'cancelled';

/** Sends the finished deliveries of a time range again. */
export interface Replay extends Required<ReplayRange> {
  id: string;
  webhookId: string;
  state: ReplayState;
  /** How many deliveries the range had when the replay was requested. */
  total: number;
  /** How many were restarted. */
  replayed: number;
  createdAt: Date;
  completedAt?: Date;
}

/** Limit of running replays of a subscription. All except the first wait. */
export const MAX_RUNNING = 10;

/** Limit of new replays of a subscription: each sends its whole time range again. */
export const STARTED = { times: 20, withinMs: 3_600_000 };

export class ReplayLimitError extends DomainError {
  constructor() {
    super(
      'conflict',
      'replay_limit_reached',
      `A webhook subscription has at most ${MAX_RUNNING} replays running.`,
    );
  }
}

/** A completed replay cannot be cancelled. */
export class ReplayFinishedError extends DomainError {
  constructor() {
    super('conflict', 'replay_finished', 'The replay is completed.');
  }
}
