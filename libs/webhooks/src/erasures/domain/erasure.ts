import { DomainError } from '#libs/kernel';

/** What to erase: the events whose data contain a text, and producers' keys that do. */
export interface ErasureRequest {
  /** At least four characters, so that nobody erases almost everything by mistake. */
  contains: string;
  /** Only events of this account; undefined for those of all accounts. */
  accountId?: string | undefined;
  /** Accepted at or after. */
  since?: Date | undefined;
  /** Accepted before; by default the time of the request. */
  until?: Date | undefined;
}

/** What an erasure finds. */
export interface ErasureCount {
  /** Events whose data contain the text. */
  events: number;
  /** Producers' keys that contain the text. */
  producerIds: number;
}

export type ErasureState = 'running' | 'completed';

/** Erases a text from stored events (contract, section 12). It does not show the text itself. */
export interface Erasure extends ErasureCount {
  id: string;
  /** Absent for all accounts. */
  accountId?: string;
  since?: Date;
  until: Date;
  state: ErasureState;
  /** How many waiting deliveries it has cancelled. */
  deliveries: number;
  /** Events that were accepted before this time have been searched; absent before the first and when it is completed. */
  searchedTo?: Date;
  createdAt: Date;
  completedAt?: Date;
}

/** How many erasures may run for an account, and for all accounts together. */
export const MAX_RUNNING = 20;

/** Too many erasures are running for the account. */
export class ErasuresRunningError extends DomainError {
  constructor() {
    super(
      'conflict',
      'erasures_running',
      `At most ${MAX_RUNNING} erasures may run at the same time: wait until one has completed.`,
    );
  }
}
