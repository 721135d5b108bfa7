import type { Attempt } from './delivery.js';

/** One POST to a customer's address. */
export interface TargetRequest {
  url: string;
  headers: Record<string, string>;
  body: string;
  /** Until the status line and headers of the answer. */
  timeoutMs: number;
}

/** What an attempt shows of the exchange; its number and time are its caller's. */
export type TargetAnswer = Omit<Attempt, 'number' | 'at'>;

/** Calls customers' addresses, guarded: never one that is not public. */
export abstract class TargetClient {
  /** An answer of any kind, or none, is an outcome: this never throws. */
  abstract post(request: TargetRequest): Promise<TargetAnswer>;
}
