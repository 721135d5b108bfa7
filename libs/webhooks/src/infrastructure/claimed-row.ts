import type { QueuedDelivery } from '../domain/delivery-queue.js';

/** What a statement that claims deliveries for the queue returns of each. */
export interface ClaimedRow {
  id: string;
  webhook_id: string;
  attempts: number;
  immediate: boolean;
}

/** The job for the next attempt of a claimed delivery. */
export function queuedDelivery(row: ClaimedRow): QueuedDelivery {
  const { id, webhook_id: webhookId, attempts, immediate } = row;
  return { id, attempt: attempts + 1, webhookId, immediate };
}
