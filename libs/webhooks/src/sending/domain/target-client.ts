import type { Attempt, AttemptPhases } from '../../deliveries/domain/delivery.js';

/** One POST to a customer's target. */
export interface TargetRequest {
  url: string;
  headers: Record<string, string>;
  body: string;
  /** Time limit for the status line and headers of the answer. */
  timeoutMs: number;
}

/** The part of an attempt that the client knows; the caller adds the rest. */
export type TargetAnswer = Omit<Attempt, 'number' | 'at' | 'request' | 'phases'> & {
  phases?: Omit<AttemptPhases, 'queued'>;
};

/** Calls customers' targets, but never at an address that the outbound policy refuses. */
export abstract class TargetClient {
  /**
   * Every answer, and a missing one, is an outcome.
   * @throws what fails on our own side, such as a lack of file descriptors: it says nothing about the target
   */
  abstract post(request: TargetRequest): Promise<TargetAnswer>;
}
