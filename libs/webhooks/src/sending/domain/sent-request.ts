import { MASK, shownTargetUrl } from '../../subscriptions/domain/target-url.js';
import type { AttemptPhases, SentRequest } from '../../deliveries/domain/delivery.js';
import type { LeasedDelivery, OpenTarget } from './pending-deliveries.js';

/** A request as its customer may see it: credentials, and values of the customer's own headers, are masked. */
export function shownRequest(
  { url, headers }: Pick<OpenTarget, 'url' | 'headers'>,
  ours: Record<string, string>,
): SentRequest {
  const sent = new URL(url);
  // It is never sent.
  sent.hash = '';
  const masked = Object.keys(headers).map((name) => [name, MASK] as const);
  return {
    method: 'POST',
    url: shownTargetUrl(sent.href),
    headers: {
      ...((sent.username || sent.password) && { authorization: MASK }),
      ...Object.fromEntries(masked),
      ...ours,
    },
  };
}

/** @param startedAt when the call began, as `performance.now()` */
export function attemptPhases(
  { attempt, createdAt, takenAt, leasedAt }: LeasedDelivery,
  startedAt: number,
  ofCall: AttemptPhases = {},
): AttemptPhases {
  if (attempt > 1) return ofCall;
  const waitedMs = takenAt.getTime() - createdAt.getTime() + startedAt - leasedAt;
  return { ...ofCall, queued: Math.max(waitedMs, 0) };
}
