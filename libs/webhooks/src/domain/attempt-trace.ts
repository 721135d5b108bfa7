import type { TakenDelivery } from './pending-deliveries.js';

/** Shows an attempt as a part of the trace that its event belongs to. */
export abstract class AttemptTrace {
  abstract around<Result>(taken: TakenDelivery, work: () => Promise<Result>): Promise<Result>;
}
