import type { LeasedDelivery } from './pending-deliveries.js';

/** Records an attempt as part of its event's trace. */
export abstract class AttemptTrace {
  abstract around<Result>(delivery: LeasedDelivery, work: () => Promise<Result>): Promise<Result>;
}
