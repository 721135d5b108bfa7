import type { DeliveryJob } from './delivery.js';

/** A job and the subscription that it is for, which decides on its queue. */
export interface QueuedDelivery extends DeliveryJob {
  webhookId: string;
  /** Goes before all others: a test. */
  immediate?: boolean;
}

/**
 * The bounded window onto the backlog. It may lose everything at any time: what it loses is
 * brought in again when its claim ends.
 */
export abstract class DeliveryQueue {
  /**
   * Whether jobs can be added now; a process that accepts events asks this before it claims.
   * @param what an immediate one finds room where others have to wait
   */
  abstract hasRoom(what?: { immediate: boolean }): boolean;

  /** Adds jobs, as far as that works within its bounds. Never throws, never waits long. */
  abstract add(jobs: readonly QueuedDelivery[]): Promise<void>;
}
