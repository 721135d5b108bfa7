import type { Attempt } from '../../deliveries/domain/delivery.js';
import type { KnownHealth } from './pending-deliveries.js';
import { retryAfter } from './retries.js';
import type { Verdict } from '../../subscriptions/domain/subscription-life.js';

/** A verdict on the target that was called, which may have been replaced since. */
export interface TargetVerdict {
  webhookId: string;
  accountId: string;
  targetVersion: number;
  verdict: Verdict;
  /** Of the attempt: see `outcomeOf`. */
  outcome: string;
  known: KnownHealth;
}

/** The verdict of an attempt (contract, section 8). @param immediate whether it was sent now, regardless of what blocked it */
export function verdictOf(
  attempt: Pick<Attempt, 'at' | 'durationMs' | 'status' | 'responseHeaders'>,
  immediate: boolean,
): Verdict {
  const { status = 0 } = attempt;
  if (status >= 200 && status < 300) return { kind: 'succeeded' };
  if (status === 410) return { kind: 'gone' };
  const answeredAt = new Date(attempt.at.getTime() + attempt.durationMs);
  const mayAsk = status === 429 || status === 503;
  const retryAfterMs = mayAsk ? retryAfter(retryAfterOf(attempt), answeredAt) : undefined;
  return { kind: 'failed', immediate, ...(retryAfterMs !== undefined && { retryAfterMs }) };
}

function retryAfterOf({ responseHeaders }: Pick<Attempt, 'responseHeaders'>): string | undefined {
  const value = responseHeaders?.['retry-after'];
  return Array.isArray(value) ? value[0] : value;
}

/**
 * Applies verdicts to the health of targets: opens and closes circuits, obeys `Retry-After`, and disables
 * subscriptions that are gone or have failed for too long, as `decide` in `subscription-life.ts` says.
 */
export abstract class CircuitBreaker {
  /**
   * Resolves when the verdict is applied, changes nothing, or is deferred because the subscription is
   * locked or PostgreSQL is down. Never rejects and never waits for a lock. Verdicts on one target are
   * applied in the order of these calls. A success of a healthy target need not be reported.
   * @returns whether the subscription is now blocked or off
   */
  abstract report(verdict: TargetVerdict): Promise<boolean>;
}
