import {
  AddressSchema,
  describeError,
  describeRoutes,
  EXPORTABLE_PAGE,
  NEWEST_PAGE,
  PLUS_AT_START,
  schema,
  TIMES,
} from '#libs/http';
import {
  DeliveryFinishedError,
  DeliveryNotFinishedError,
  SubscriptionInactiveError,
} from '../domain/deliveries.service.js';
import { ATTEMPT_ERRORS, DELIVERY_STATES } from '../domain/delivery.js';
import { EVENT_KINDS } from '../../event-kinds/domain/event-kinds.js';
import { CONTAINS } from './contained-text.js';
import { DeliveriesController } from './deliveries.controller.js';
import { AttemptView, DeliveryView, DeliveryWithAttemptsSchema } from './delivery.view.js';
import { NOTIFICATION_LOOP } from './starts-sending.js';

export const SUBSCRIPTION_INACTIVE = describeError(
  new SubscriptionInactiveError(),
  'The webhook subscription is switched off or deleted.',
);
const NOT_FINISHED = describeError(
  new DeliveryNotFinishedError({ state: 'pending' }),
  'The delivery is pending or parked, or an attempt is on its way. One that waits can be cancelled first.',
);
const IN_FLIGHT = describeError(
  new DeliveryNotFinishedError({ state: 'pending' }),
  'The delivery was cancelled while an attempt was on its way, which has not ended yet.',
);
const FINISHED = describeError(
  new DeliveryFinishedError(),
  'The delivery is finished: it succeeded, was given up, or was cancelled for another reason.',
);

const OF_SUBSCRIPTION = {
  id: {
    about: 'The id of a webhook subscription.',
    schema: schema.numericId('', '4711'),
  },
};

const FILTERS = {
  state: {
    about: `In this state: ${DELIVERY_STATES.join(', ')}.`,
    schema: schema.text('', 'succeeded'),
  },
  event: {
    about: `Of events of this kind: ${EVENT_KINDS.join(', ')}.`,
    schema: schema.text('', 'cdrCreated'),
  },
  status: {
    about:
      'With this result of the last attempt: a status such as `404`, a class such as `5xx`, an ' +
      `error (${ATTEMPT_ERRORS.join(', ')}), or \`failed\` for all but 2xx.`,
    schema: schema.text('', '5xx'),
  },
  producerId: {
    about: `Of events with this key of the producer's. ${PLUS_AT_START}`,
    schema: schema.text('', 'cdr-8c1f3a'),
  },
  contains: CONTAINS,
  include: {
    about:
      'Adds the `notification` of each. A page that has more than about 1 MiB of them ends earlier.',
    schema: schema.choice('', ['notification']),
  },
  ...TIMES,
  ...EXPORTABLE_PAGE,
};

/** The deliveries' part of the API description. */
export const deliveriesRoutes = describeRoutes(DeliveriesController, {
  tag: 'Deliveries',
  about: 'Notifications on their way to a subscription, and every attempt.',
  path: { id: { about: 'The id of a delivery.', schema: schema.uuid('') } },
  operations: {
    list: {
      summary: 'List deliveries',
      about: "The caller's deliveries, or for the role `platform` all deliveries; newest first.",
      query: {
        webhookId: { about: 'Of this subscription.', schema: schema.text('', '4711') },
        applicationId: {
          about: 'Of events of this application.',
          schema: schema.text('', '5080983'),
        },
        accountId: {
          about: 'Of this account; for the role `platform`.',
          schema: schema.text('', '83346'),
        },
        ...FILTERS,
      },
      answer: schema.arrayOf(DeliveryView.schema),
      isExported: true,
      headers: ['Link', 'Switchhook-Searched-To'],
    },
    listOf: {
      summary: "List a subscription's deliveries",
      about: 'Newest first.',
      path: OF_SUBSCRIPTION,
      query: FILTERS,
      answer: schema.arrayOf(DeliveryView.schema),
      isExported: true,
      headers: ['Link', 'Switchhook-Searched-To'],
    },
    show: {
      summary: 'Show a delivery',
      about:
        'A delivery and its newest attempts; also after its subscription is gone. With the role ' +
        '`platform`, of any account.',
      answer: DeliveryWithAttemptsSchema,
    },
    attempts: {
      summary: "List a delivery's attempts",
      about:
        'All of them, in the order in which they were made. With the role `platform`, of any ' +
        "account's delivery.",
      query: {
        limit: NEWEST_PAGE.limit!,
        after: {
          about: 'Answers those that come after the one with this number.',
          schema: { ...schema.integer('', 100), minimum: 0, maximum: 999_999_999 },
        },
      },
      answer: schema.arrayOf(AttemptView.schema),
      headers: ['Link'],
    },
    redeliver: {
      summary: 'Deliver again',
      about:
        'Starts a finished delivery anew: the same id, and a full schedule of attempts. At most ' +
        '20 times in an hour.',
      answer: AddressSchema,
      headers: ['Location'],
      errors: [NOT_FINISHED, SUBSCRIPTION_INACTIVE, NOTIFICATION_LOOP],
    },
    send: {
      summary: 'Send now',
      about:
        'Tries a waiting delivery at once, even if its subscription is paused, held or has an open circuit. If that ' +
        'fails, its schedule goes on as if nothing had happened. One that is on its way stays so, and a finished one ' +
        'starts anew, as with `redeliver`. At most 20 times in an hour.',
      answer: AddressSchema,
      headers: ['Location'],
      errors: [IN_FLIGHT, SUBSCRIPTION_INACTIVE, NOTIFICATION_LOOP],
    },
    cancel: {
      summary: 'Cancel a delivery',
      about:
        'Gives up a delivery that is not finished. An attempt that is on its way ends and is ' +
        'recorded; if it succeeds, so has the delivery. Nothing changes when it was cancelled so before.',
      answer: AddressSchema,
      headers: ['Location'],
      errors: [FINISHED],
    },
    test: {
      summary: 'Test a subscription',
      about: 'Sends a sample of its own event, once and at once. Answers where to see how it went.',
      path: OF_SUBSCRIPTION,
      answer: AddressSchema,
      headers: ['Location'],
      errors: [SUBSCRIPTION_INACTIVE, NOTIFICATION_LOOP],
    },
  },
});
