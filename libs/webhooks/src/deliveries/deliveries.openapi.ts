import { AddressSchema, describeError, describeRoutes, schema } from '#libs/http';
import {
  DeliveryFinishedError,
  DeliveryNotFinishedError,
  SubscriptionInactiveError,
} from './domain/deliveries.service.js';
import { DeliveriesController } from './http/deliveries.controller.js';
import { AttemptView, DeliveryView, DeliveryWithAttemptsSchema } from './delivery.view.js';

export const SUBSCRIPTION_INACTIVE = describeError(
  new SubscriptionInactiveError(),
  'The webhook subscription is switched off or deleted.',
);
const NOT_FINISHED = describeError(
  new DeliveryNotFinishedError({ state: 'pending' }),
  'The delivery is pending, parked or in flight. A waiting one can be cancelled first.',
);
const IN_FLIGHT = describeError(
  new DeliveryNotFinishedError({ state: 'pending' }),
  'The delivery was cancelled while it was in flight, and that attempt has not ended yet.',
);
const FINISHED = describeError(
  new DeliveryFinishedError(),
  'The delivery is finished: it succeeded, is exhausted, or was cancelled for another reason.',
);

const OF_SUBSCRIPTION = {
  id: {
    about: 'The id of a webhook subscription.',
    schema: schema.numericId('', '4711'),
  },
};

/** The deliveries' part of the API description. */
export const deliveriesRoutes = describeRoutes(DeliveriesController, {
  tag: 'Deliveries',
  about: 'Notifications to subscriptions, with every attempt.',
  path: { id: { about: 'The id of a delivery.', schema: schema.uuid('') } },
  operations: {
    list: {
      summary: 'List deliveries',
      about: "The caller's deliveries, or all deliveries for the role `platform`; newest first.",
      answer: schema.arrayOf(DeliveryView.schema),
    },
    listOf: {
      summary: "List a subscription's deliveries",
      about: 'Newest first.',
      path: OF_SUBSCRIPTION,
      answer: schema.arrayOf(DeliveryView.schema),
    },
    show: {
      summary: 'Show a delivery',
      about:
        'A delivery and its newest attempts, even after its subscription was deleted. The role ' +
        '`platform` may show those of any account.',
      answer: DeliveryWithAttemptsSchema,
    },
    attempts: {
      summary: "List a delivery's attempts",
      about: 'All of them, oldest first. The role `platform` may list those of any account.',
      answer: schema.arrayOf(AttemptView.schema),
    },
    redeliver: {
      summary: 'Deliver again',
      about:
        'Restarts a finished delivery with the same id and a full schedule of attempts, at most ' +
        '20 times per hour.',
      answer: AddressSchema,
      errors: [NOT_FINISHED, SUBSCRIPTION_INACTIVE],
    },
    send: {
      summary: 'Send now',
      about:
        'Tries a waiting delivery at once, even if its subscription is paused or held, or its circuit is open. If that ' +
        'fails, its schedule continues as before. A delivery in flight is not changed, and a finished one ' +
        'is restarted, as with `redeliver`. At most 20 times per hour.',
      answer: AddressSchema,
      errors: [IN_FLIGHT, SUBSCRIPTION_INACTIVE],
    },
    cancel: {
      summary: 'Cancel a delivery',
      about:
        'Cancels an unfinished delivery. An attempt in flight continues and is recorded; if it succeeds, so does the ' +
        'delivery. Cancelling again has no effect.',
      answer: AddressSchema,
      errors: [FINISHED],
    },
    test: {
      summary: 'Test a subscription',
      about:
        'Sends a sample of its event at once, in a single attempt. The answer says where to see the result.',
      path: OF_SUBSCRIPTION,
      answer: AddressSchema,
      errors: [SUBSCRIPTION_INACTIVE],
    },
  },
});
