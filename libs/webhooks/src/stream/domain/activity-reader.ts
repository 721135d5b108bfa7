import type { Attempt, Delivery } from '../../deliveries/domain/delivery.js';
import type { Webhook } from '../../subscriptions/domain/webhook.js';
import type { Entry } from './activity-log.js';

/** What a listener is told. */
export type Message =
  | { kind: 'delivery'; delivery: Delivery }
  | { kind: 'attempt'; delivery: Delivery; attempt: Attempt }
  | { kind: 'webhook'; webhook: Webhook }
  | { kind: 'interrupted' };

/** Finds what entries of an account's activity are about, as it is now. */
export abstract class ActivityReader {
  /** The messages of each entry, in order. What is gone, or another account's, is left out. */
  abstract read(accountId: string, entries: readonly Entry[]): Promise<Message[][]>;
}
