import type { Attempt } from '../../deliveries/domain/delivery.js';
import { retryAfter } from './retry-after.js';
import type { Health, Verdict } from '../../subscriptions/domain/subscription-life.js';

/** The health of a target as it was last read, with the claim of a delivery or later. */
export interface KnownHealth extends Health {
  /** The exact stored values: a decision applies only while these are unchanged. */
  stored: string;
  /** When it was read, in ms of `performance.now()`. */
  readAt: number;
}

/** A verdict on the target that was called, which may have been replaced since. */
export interface TargetVerdict {
  webhookId: string;
  accountId: string;
  targetVersion: number;
  verdict: Verdict;
  known: KnownHealth;
}

/** The verdict that an attempt gives (contract, section 8). @param test whether it was a test */
export function verdictOf(
  attempt: Pick<Attempt, 'at' | 'durationMs' | 'status' | 'responseHeaders'>,
  test: boolean,
): Verdict {
  const { status = 0 } = attempt;
  if (status >= 200 && status < 300) return { kind: 'succeeded' };
  if (status === 410) return { kind: 'gone' };
  const answeredAt = new Date(attempt.at.getTime() + attempt.durationMs);
  const mayAsk = status === 429 || status === 503;
  const retryAfterMs = mayAsk ? retryAfter(retryAfterOf(attempt), answeredAt) : undefined;
  return { kind: 'failed', test, ...(retryAfterMs !== undefined && { retryAfterMs }) };
}

function retryAfterOf({ responseHeaders }: Pick<Attempt, 'responseHeaders'>): string | undefined {
  const value = responseHeaders?.['retry-after'];
  return Array.isArray(value) ? value[0] : value;
}

/** Applies verdicts to the health of targets. */
export abstract class TargetVerdicts {
  /**
   * Resolves when the verdict is applied, changes nothing, or is deferred because the subscription is
   * locked or PostgreSQL is down. Never rejects and never waits for a lock. Verdicts on one target are
   * applied in the order of these calls. A success of a healthy target need not be reported.
   * @returns whether the subscription is now blocked or off
   */
  abstract report(verdict: TargetVerdict): Promise<boolean>;
}
