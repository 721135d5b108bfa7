import type { DeliveryJob } from './delivery.js';

/** A job and the subscription that it is for, which decides on its queue. */
export interface QueuedDelivery extends DeliveryJob {
  webhookId: string;
  /** Goes before all others: a test. */
  immediate?: boolean;
}

/**
 * The short way of new deliveries to a worker. It may lose everything at any time: workers claim what it
 * loses from PostgreSQL when its lease has ended.
 */
export abstract class DeliveryQueue {
  /**
   * Whether jobs can be added now; asked before a delivery is leased to the queue.
   * @param what an immediate one finds room where others have to wait
   */
  abstract hasRoom(what?: { immediate: boolean }): boolean;

  /** Adds jobs, as far as that works within its bounds. Never throws, never waits long. */
  abstract add(jobs: readonly QueuedDelivery[]): Promise<void>;
}
