import { LRUCache, OWN_FAULTS, type OwnFault } from '#libs/kernel';
import type { Attempt, AttemptPhases, SentRequest } from '../../deliveries/domain/delivery.js';
import { MASK, shownTargetUrl } from '../../subscriptions/domain/target-url.js';
import type { LeasedDelivery, OpenTarget } from './pending-deliveries.js';

/** One POST to a customer's target. */
export interface TargetRequest {
  /** Calls of different accounts share no connection. */
  accountId: string;
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

/** Calls customers' targets, but never at an address that the outbound policy refuses: the `OutboundClient`. */
export abstract class TargetClient {
  /**
   * Every answer, and a missing one, is an outcome.
   * @throws what fails on our own side, such as a lack of file descriptors, with the name of the `fault`: it says
   * nothing about the target
   */
  abstract post(request: TargetRequest): Promise<TargetAnswer>;
}

/** The name of the fault if a {@link TargetClient} failed on our own side. */
export function ownFaultOf(error: unknown): OwnFault | undefined {
  const { fault } = error as { fault?: unknown };
  return OWN_FAULTS.find((one) => one === fault);
}

/** What each call needs of its target's URL several times. */
interface KnownTarget {
  host: string;
  shownUrl: string;
  hasCredentials: boolean;
}

const known = new LRUCache<string, KnownTarget>({ max: 500 });

/** @param url with its credentials */
export function knownTarget(url: string): KnownTarget {
  let target = known.get(url);
  if (!target) {
    const sent = new URL(url);
    const hasCredentials = sent.username !== '' || sent.password !== '';
    // The fragment is never sent.
    if (url.includes('#')) sent.hash = '';
    target = { host: sent.hostname, shownUrl: shownTargetUrl(sent.href), hasCredentials };
    known.set(url, target);
  }
  return target;
}

/** A request as its customer may see it: credentials, and values of the customer's own headers, are masked. */
export function shownRequest(
  { url, headers }: Pick<OpenTarget, 'url' | 'headers'>,
  ours: Record<string, string>,
): SentRequest {
  const { shownUrl, hasCredentials } = knownTarget(url);
  const masked = Object.keys(headers).map((name) => [name, MASK] as const);
  return {
    method: 'POST',
    url: shownUrl,
    headers: {
      ...(hasCredentials && { authorization: MASK }),
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
