import type { Schemas } from '../../app/api.js';
import type { Report } from './event.queries.js';

type Subscription = Schemas['Webhook'];
type ApiReason = Schemas['Unmatched']['reason'];
type EventKind = Pick<Report, 'event' | 'resource' | 'applicationId'>;
type EventHead = EventKind & Pick<Report, 'createdAt' | 'deliveries' | 'unmatched'>;

/** A subscription that was not told of an event, and why, as far as it shows now. */
export interface WhyNot {
  webhookId: string;
  /** Undefined if it is not known. */
  subscription: Subscription | undefined;
  reason: ApiReason | 'other_application';
  sentence: string;
  /** When what the sentence says was so. */
  at?: string;
  /** What the customer can do. */
  advice?: string;
}

/** That which a small change would have told comes first. */
const ORDER: readonly WhyNot['reason'][] = [
  'disabled',
  'other_application',
  'created_later',
  'changed_later',
  'other_resource',
  'other_event',
];

/**
 * Every subscription that could have been told of an event and was not. The API leaves out those of other
 * applications, of which these are the ones that are for such events.
 * @param subscriptions all that the account has
 */
export function whyNotOf(event: EventHead, subscriptions: readonly Subscription[]): WhyNot[] {
  const byId = new Map(subscriptions.map((one) => [one.id, one]));
  const answered = event.unmatched.map(({ webhookId, reason: said }) => {
    const subscription = byId.get(webhookId);
    const reason = decidingReason(event, said, subscription);
    return { webhookId, subscription, reason, ...EXPLAIN[reason](event, subscription) };
  });
  const elsewhere = subscriptions
    .filter((one) => isElsewhere(event, one) && isForSuch(event, one))
    .map((subscription) => ({
      webhookId: subscription.id,
      subscription,
      reason: 'other_application' as const,
      ...ofOtherApplication(event, subscription),
    }));
  const placeOf = ({ reason }: WhyNot): number => ORDER.indexOf(reason);
  return [...answered, ...elsewhere].sort((one, other) => placeOf(one) - placeOf(other));
}

/** What a later subscription is for decides: it would not have been told either, had it been there. */
function decidingReason(
  { event, resource }: EventHead,
  said: ApiReason,
  subscription: Subscription | undefined,
): ApiReason {
  if (said !== 'created_later' || !subscription) return said;
  if (subscription.event !== event) return 'other_event';
  return isAbout(subscription, resource) ? said : 'other_resource';
}

/** Whether an event that a subscription was not told of can be sent to it now. */
export function canBeSent(event: EventKind, subscription: Subscription | undefined): boolean {
  return (
    subscription !== undefined &&
    !isElsewhere(event, subscription) &&
    isForSuch(event, subscription)
  );
}

function isElsewhere({ applicationId }: EventKind, subscription: Subscription): boolean {
  const { applicationId: own } = subscription;
  return own !== undefined && own !== applicationId;
}

function isForSuch({ event, resource }: EventKind, subscription: Subscription): boolean {
  return subscription.enabled && subscription.event === event && isAbout(subscription, resource);
}

function isAbout(subscription: Subscription, resource: string): boolean {
  const resources = subscription.resource.split(',');
  return resources.includes('all') || resources.includes(resource);
}

type Explanation = Pick<WhyNot, 'sentence' | 'at' | 'advice'>;
type Explain = (event: EventHead, subscription: Subscription | undefined) => Explanation;

const EXPLAIN: Record<ApiReason, Explain> = {
  created_later: (_, subscription) => ({
    sentence: 'It was created after this event.',
    ...(subscription && { at: subscription.createdAt }),
    advice: 'It gets later events that it is for.',
  }),
  disabled: (_, subscription) => ({
    ...whyOff(subscription),
    advice: 'Switch it on to get later events. Then you can send it this one, too.',
  }),
  other_event: ({ event }, subscription) => ({
    sentence: `It is for ${subscription?.event ?? 'another kind of event'}, and this event is ${event}.`,
    advice: `To get ${event}, create another subscription, or change the event of this one.`,
  }),
  other_resource: ({ resource }, subscription) => ({
    sentence: `It is for ${resourcesOf(subscription)}, and this event is about ${resource}.`,
    advice: `To get such events, add ${resource} to its resources.`,
  }),
  changed_later: (_, subscription) => ({
    sentence: 'It would be told now: it was changed after this event.',
    ...(subscription && { at: subscription.updatedAt }),
    advice: 'It gets later events.',
  }),
};

function whyOff(subscription: Subscription | undefined): Pick<Explanation, 'sentence' | 'at'> {
  const { disabledReason, disabledAt } = subscription ?? {};
  const at = disabledAt === undefined ? {} : { at: disabledAt };
  if (disabledReason === 'gone') {
    return { sentence: 'It is off: its target answered 410 Gone.', ...at };
  }
  if (disabledReason === 'failing') {
    return { sentence: 'It is off: every attempt had failed for five days.', ...at };
  }
  return { sentence: 'It is off.' };
}

function resourcesOf(subscription: Subscription | undefined): string {
  return subscription?.resource.split(',').join(' and ') ?? 'something else';
}

function ofOtherApplication({ applicationId }: EventHead, subscription: Subscription): Explanation {
  const own = `It is for events of application ${subscription.applicationId ?? ''}`;
  return applicationId === undefined
    ? {
        sentence: `${own}, and this event is of no application.`,
      }
    : {
        sentence: `${own}, and this event is of application ${applicationId}.`,
      };
}
