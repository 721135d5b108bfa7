/** Why deliveries wait although they are to be sent now. */
export const WAIT_REASONS = ['schedule', 'paused', 'circuit', 'hold', 'pace'] as const;
export type WaitReason = (typeof WAIT_REASONS)[number];

/** What decides whether a subscription's due deliveries are sent now. */
export interface SendConditions {
  paused: boolean;
  /** Its target asked with `Retry-After` for no calls yet. */
  isRetryLater: boolean;
  /** Its circuit is open. `half-open`: deliveries wait for a probe to succeed. */
  circuit: 'closed' | 'half-open' | 'open';
  /** An earlier replay of it is still running. */
  isBehind: boolean;
  maxPerSecond: number | null;
  maxConcurrent: number | null;
  ordered: boolean;
  /** More deliveries than its pace allows are due already, or the first one of an ordered subscription fails. */
  paceWaits: boolean;
}

/** How many deliveries are sent at once, and how many wait for what. */
export interface SendOutlook {
  now: number;
  waiting: Partial<Record<WaitReason, number>>;
}

/**
 * What becomes of due deliveries of a subscription. As with `waitsFor` of a delivery, a subscription that is blocked
 * comes before a hold.
 * @param isHolding whether all workers hold their deliveries
 */
export function outlookOf(due: number, of: SendConditions, isHolding: boolean): SendOutlook {
  const reason = blockOf(of, isHolding);
  const now = reason ? 0 : Math.min(due, roomOf(of));
  const rest = due - now;
  return { now, waiting: rest === 0 ? {} : { [reason ?? 'pace']: rest } };
}

function blockOf(of: SendConditions, isHolding: boolean): WaitReason | undefined {
  if (of.paused) return 'paused';
  if (of.isRetryLater) return 'schedule';
  if (of.circuit === 'open') return 'circuit';
  if (isHolding) return 'hold';
  if (of.circuit === 'half-open') return 'circuit';
  return of.isBehind ? 'schedule' : undefined;
}

/** How many the pace lets go within the first second. */
function roomOf({ paceWaits, ordered, maxPerSecond, maxConcurrent }: SendConditions): number {
  if (paceWaits) return 0;
  return Math.min(ordered ? 1 : Infinity, maxPerSecond ?? Infinity, maxConcurrent ?? Infinity);
}

/** Adds one outlook to another. */
export function addOutlook(total: SendOutlook, { now, waiting }: SendOutlook): void {
  total.now += now;
  for (const reason of WAIT_REASONS) {
    const more = waiting[reason];
    if (more !== undefined) total.waiting[reason] = (total.waiting[reason] ?? 0) + more;
  }
}
