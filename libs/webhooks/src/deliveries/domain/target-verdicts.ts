import type { Attempt } from './delivery.js';
import { retryAfter } from './retry-after.js';
import type { Health, Verdict } from '../../subscriptions/domain/subscription-life.js';

/** The health of a target as it was read, with the claim of a delivery or later. */
export interface KnownHealth extends Health {
  /** What is stored, exactly: a decision counts only as long as just this is stored. */
  stored: string;
  /** When it was read, in ms of `performance.now()`. */
  readAt: number;
}

/** A verdict of an attempt, on the target that was called: it may be the subscription's no more. */
export interface TargetVerdict {
  webhookId: string;
  targetVersion: number;
  verdict: Verdict;
  known: KnownHealth;
}

/** What the end of an attempt tells of its target (contract, section 8). @param test it was a test */
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

/** Carries out what follows from the verdicts on targets. */
export abstract class TargetVerdicts {
  /**
   * Resolves when what follows is carried out, or nothing follows, or it is put aside for a while:
   * because somebody has locked the subscription, or PostgreSQL is away. Never rejects, and waits for
   * nobody's lock. Those of one target are carried out in the order in which they are told; a success
   * of a target that was healthy need not be.
   * @returns whether nothing more is to be sent to it now
   */
  abstract tell(verdict: TargetVerdict): Promise<boolean>;
}
