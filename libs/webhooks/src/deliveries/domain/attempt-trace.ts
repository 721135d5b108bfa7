import type { LeasedDelivery } from './pending-deliveries.js';

/** Shows an attempt as a part of the trace that its event belongs to. */
export abstract class AttemptTrace {
  abstract around<Result>(delivery: LeasedDelivery, work: () => Promise<Result>): Promise<Result>;
}
