import type { Tone } from '../../components/notice.js';
import type { Subscription } from './subscriptions.queries.js';

/** A subscription whose target does not take notifications. */
export interface Failing {
  subscription: Subscription;
  tone: Tone;
  word: string;
  /** Leads up to {@link since}. */
  sentence: string;
  since: string;
  /** When one notification finds out whether the target answers again; nothing else is sent until then. */
  triedAt?: string;
  /** When it is switched off, if that goes on. */
  disablesAt?: string;
}

/** The subscriptions that are failing, or that the service switched off; those that fail the longest first. */
export function failingOf(subscriptions: readonly Subscription[]): Failing[] {
  return subscriptions
    .map((subscription) => conditionOf(subscription))
    .filter((one) => one !== undefined)
    .sort((one, other) => (one.since < other.since ? -1 : 1));
}

function conditionOf(subscription: Subscription): Failing | undefined {
  const { enabled, health, disabledReason, disabledAt, updatedAt } = subscription;
  if (!enabled) {
    if (disabledReason === undefined) return undefined;
    return {
      subscription,
      tone: 'bad',
      word: 'switched off',
      sentence:
        disabledReason === 'gone'
          ? 'The target answered 410 Gone, so the service switched it off at'
          : 'Every attempt had failed for five days, so the service switched it off at',
      since: disabledAt ?? updatedAt,
    };
  }
  if (health?.since === undefined || health.state === 'ok') return undefined;
  return {
    subscription,
    tone: 'bad',
    ...(health.state === 'open'
      ? {
          word: 'not called',
          sentence: 'At least ten attempts in a row have failed, all of them since',
        }
      : { word: 'failing', sentence: 'Every attempt has failed since' }),
    since: health.since,
    ...(health.until !== undefined && { triedAt: health.until }),
    ...(health.disablesAt !== undefined && { disablesAt: health.disablesAt }),
  };
}
