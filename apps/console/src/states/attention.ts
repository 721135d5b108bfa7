import type { Schemas } from '../app/api.js';
import type { Tone } from '../components/notice.js';
import { conditionsOf } from './subscription-state.js';

type Subscription = Schemas['Webhook'];

const conditionsNow = (one: Subscription) => conditionsOf(one, undefined, Date.now());

/** The subscriptions that need attention, longest first. */
export function needingAttention(subscriptions: readonly Subscription[]): Subscription[] {
  return subscriptions
    .flatMap((subscription) => {
      const condition = conditionsNow(subscription).find(({ needsAttention }) => needsAttention);
      return condition ? [{ subscription, since: condition.since?.at ?? '' }] : [];
    })
    .sort((one, other) => (one.since < other.since ? -1 : 1))
    .map(({ subscription }) => subscription);
}

/** How subscriptions are of which none needs attention: `All subscriptions healthy`, `3 healthy, 1 untested`. */
export function quietText(subscriptions: readonly Subscription[]): { tone: Tone; text: string } {
  const counts = new Map<string, number>();
  for (const one of subscriptions) {
    const [{ word }] = conditionsNow(one);
    counts.set(word, (counts.get(word) ?? 0) + 1);
  }
  const words = [...counts.keys()];
  const tone = counts.has('healthy') ? 'good' : 'neutral';
  if (words.length === 0) return { tone, text: 'No subscriptions' };
  if (words.length === 1) return { tone, text: `All subscriptions ${words.join()}` };
  const parts = [...counts].map(([word, count]) => `${count} ${word}`);
  return { tone, text: parts.join(', ') };
}
