import { inNaturalOrder } from '../../components/natural-order.js';
import { successText } from '../overview/outcomes.js';
import { conditionsOf } from '../../states/subscription-state.js';
import type { Subscription } from '../../app/names.queries.js';

/** The words for the state of a subscription in lists, worst first. */
export const STATES = [
  'failing',
  'losing',
  'paused',
  'paced',
  'untested',
  'healthy',
  'disabled',
] as const;

/** The filter's value for subscriptions of the whole account. */
export const WHOLE_ACCOUNT = 'none';

/** The filters; an absent one matches everything. */
export interface Wanted {
  /** Part of the name or the target. */
  text?: string;
  state?: string;
  event?: string;
  /** A resource that it covers; `all` finds subscriptions to `all`. */
  resource?: string;
  applicationId?: string;
}

const conditionsNow = (one: Subscription) => conditionsOf(one, undefined, Date.now());

/** The success rate of the last 24 hours, such as `99.9%`; undefined without attempts. */
export function rateOf({ activity }: Subscription): string | undefined {
  if (!activity) return undefined;
  const { succeeded, failed } = activity;
  return successText({ attempts: succeeded + failed, outcomes: { '2xx': succeeded } });
}

/** The subscriptions that match all filters. */
export function matching(
  subscriptions: readonly Subscription[],
  { text = '', state, event, resource, applicationId }: Wanted,
): Subscription[] {
  const words = text.trim().toLowerCase();
  return subscriptions.filter(
    (one) =>
      `${one.name ?? ''}\n${one.targetUrl}`.toLowerCase().includes(words) &&
      (state === undefined || conditionsNow(one).some(({ word }) => word === state)) &&
      (event === undefined || one.event === event) &&
      (resource === undefined ||
        one.resource === 'all' ||
        one.resource.split(',').includes(resource)) &&
      (applicationId === undefined || (one.applicationId ?? WHOLE_ACCOUNT) === applicationId),
  );
}

/** Ranks states, worst first; subscriptions that the service disabled follow the failing ones. */
function rankOf(one: Subscription): number {
  const [{ word, needsAttention }] = conditionsNow(one);
  return word === 'disabled' && needsAttention
    ? STATES.indexOf('failing') + 0.5
    : (STATES as readonly string[]).indexOf(word);
}

const nameOf = ({ name, targetUrl }: Subscription): string => (name ?? targetUrl).toLowerCase();

/** The value to sort by; undefined sorts last in both directions. */
const ORDERS: Readonly<Record<string, (one: Subscription) => string | number | undefined>> = {
  name: nameOf,
  state: rankOf,
  lastSuccess: ({ activity }) => activity?.lastSuccessAt,
  success: ({ activity: { succeeded, failed } = { succeeded: 0, failed: 0 } }) =>
    succeeded + failed === 0 ? undefined : succeeded / (succeeded + failed),
};

/** Sorts by an order such as `name`, or `-name` for descending; equal ones by name. */
export function sorted(subscriptions: readonly Subscription[], order: string): Subscription[] {
  const valueOf = ORDERS[order.replace(/^-/, '')] ?? nameOf;
  const sign = order.startsWith('-') ? -1 : 1;
  return subscriptions
    .map((one) => ({ one, value: valueOf(one), name: nameOf(one) }))
    .sort(
      (a, b) =>
        Number(a.value === undefined) - Number(b.value === undefined) ||
        sign * compare(a.value, b.value) ||
        inNaturalOrder(a.name, b.name),
    )
    .map(({ one }) => one);
}

function compare(one: string | number | undefined, other: string | number | undefined): number {
  if (typeof one === 'number' && typeof other === 'number') return one - other;
  return inNaturalOrder(String(one), String(other));
}
