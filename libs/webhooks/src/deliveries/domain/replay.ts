import { DomainError } from '#libs/kernel';

/** The states that finished deliveries can be in. */
export const REPLAYABLE_STATES = ['succeeded', 'exhausted', 'cancelled'] as const;
export type ReplayableState = (typeof REPLAYABLE_STATES)[number];

/** Which deliveries of a subscription a replay sends again. */
export interface ReplayRange {
  /** Created at or after. */
  since: Date;
  /** Created before; by default, and at the latest, now. */
  until?: Date;
  states: readonly ReplayableState[];
}

/** How a replay stands. */
export type ReplayState = 'running' | 'completed' | 'cancelled';

/** The finished deliveries of a time, on their way to be sent again. */
export interface Replay extends Required<ReplayRange> {
  id: string;
  webhookId: string;
  state: ReplayState;
  /** How many there were when it was asked for. */
  total: number;
  /** How many have begun anew. */
  replayed: number;
  createdAt: Date;
  completedAt?: Date;
}

/** Replays of a subscription that may be running: all but the first of them wait. */
export const MAX_RUNNING = 10;

/** Replays of a subscription that may be started in an hour: each sends all of its time again. */
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

/** What is done cannot be cancelled. */
export class ReplayFinishedError extends DomainError {
  constructor() {
    super('conflict', 'replay_finished', 'The replay is completed.');
  }
}
