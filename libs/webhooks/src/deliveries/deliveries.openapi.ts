import { AddressSchema, describeError, describeRoutes, schema } from '#libs/http';
import {
  DeliveryFinishedError,
  DeliveryNotFinishedError,
  EventErasedError,
  SubscriptionInactiveError,
} from './domain/deliveries.service.js';
import { DeliveriesController } from './http/deliveries.controller.js';
import { AttemptView, DeliveryView, DeliveryWithAttemptsSchema } from './delivery.view.js';

export const SUBSCRIPTION_INACTIVE = describeError(
  new SubscriptionInactiveError(),
  'The webhook subscription is disabled or deleted.',
);
export const EVENT_ERASED = describeError(
  new EventErasedError(),
  'The data of the event was erased, so it cannot be sent.',
);
const NOT_FINISHED = describeError(
  new DeliveryNotFinishedError({ state: 'pending' }),
  'The delivery is pending, parked or in flight. Unless it is in flight, you can cancel it first.',
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
    about: "The subscription's id.",
    schema: schema.numericId('', '4711'),
  },
};

/** The deliveries' part of the API description. */
export const deliveriesRoutes = describeRoutes(DeliveriesController, {
  tag: 'Deliveries',
  about:
    'A delivery is one event on its way to one subscription, with all attempts to send its notification.',
  path: { id: { about: "The delivery's id.", schema: schema.uuid('') } },
  operations: {
    list: {
      summary: 'List deliveries',
      about: "Returns the caller's deliveries, newest first; for operators, those of all accounts.",
      answer: schema.arrayOf(DeliveryView.schema),
    },
    listOf: {
      summary: "List a subscription's deliveries",
      about: 'Returns the deliveries to a subscription, newest first.',
      path: OF_SUBSCRIPTION,
      answer: schema.arrayOf(DeliveryView.schema),
    },
    show: {
      summary: 'Show a delivery',
      about:
        'Returns a delivery and its newest attempts, even if its subscription was deleted. For operators, a ' +
        'delivery of any account.',
      answer: DeliveryWithAttemptsSchema,
    },
    attempts: {
      summary: "List a delivery's attempts",
      about:
        'Returns all attempts of a delivery, oldest first. For operators, of a delivery of any account.',
      answer: schema.arrayOf(AttemptView.schema),
    },
    redeliver: {
      summary: 'Redeliver a delivery',
      about:
        'Sends a finished delivery again, with the same id and a full schedule of attempts, at most 20 times per hour.',
      answer: AddressSchema,
      errors: [NOT_FINISHED, EVENT_ERASED, SUBSCRIPTION_INACTIVE],
    },
    send: {
      summary: 'Send a delivery now',
      about:
        'Attempts a pending or parked delivery at once, even if its subscription is paused, its circuit is open, or its ' +
        'target has asked to wait. If the attempt fails, the schedule continues as before. A delivery in flight does not ' +
        'change, and a finished one is sent again, as with `redeliver`. At most 20 times per hour.',
      answer: AddressSchema,
      errors: [IN_FLIGHT, EVENT_ERASED, SUBSCRIPTION_INACTIVE],
    },
    cancel: {
      summary: 'Cancel a delivery',
      about:
        'Cancels a pending or parked delivery. An attempt in flight continues and is recorded; if it succeeds, so does the ' +
        'delivery. Cancelling again has no effect.',
      answer: AddressSchema,
      errors: [FINISHED],
    },
    test: {
      summary: 'Test a subscription',
      about:
        "Sends a sample of the subscription's event at once, in a single attempt. The response has the URL of the delivery, " +
        'which shows the result.',
      path: OF_SUBSCRIPTION,
      answer: AddressSchema,
      errors: [SUBSCRIPTION_INACTIVE],
    },
  },
});
