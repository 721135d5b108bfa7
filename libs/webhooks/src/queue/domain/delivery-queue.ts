/** A delivery in a queue job, with the number of its lease. */
export interface DeliveryJob {
  id: string;
  /** A worker takes the delivery only if no other has leased it since. */
  lease: number;
}

/** A job and its subscription, which determines the shard. */
export interface QueuedDelivery extends DeliveryJob {
  webhookId: string;
  /** Goes to the front of the queue: a test, or a delivery that the customer sends now. */
  immediate?: boolean;
}

/**
 * The fast path of new deliveries to a worker. It may lose jobs at any time: workers claim lost
 * deliveries from PostgreSQL after their leases end.
 */
export abstract class DeliveryQueue {
  /**
   * Whether jobs can be added now. Call it before leasing a delivery to the queue.
   * @param what immediate deliveries have a higher limit
   */
  abstract hasRoom(what?: { immediate: boolean }): boolean;

  /** Adds jobs on a best-effort basis. Never throws and never blocks for long. */
  abstract add(jobs: readonly QueuedDelivery[]): Promise<void>;
}
