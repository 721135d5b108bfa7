import { AddressSchema, describeError, describeRoutes, schema } from '#libs/http';
import { SUBSCRIPTION_INACTIVE } from '../../deliveries/http/deliveries.openapi.js';
import {
  DeliveryExistsError,
  DeliveryLimitReachedError,
  EventNotMatchingError,
} from '../domain/events.service.js';
import { NOTIFICATION_LOOP } from '../../deliveries/http/starts-sending.js';
import { MAX_DAYS_BEFORE } from '../../event-kinds/domain/matching.js';
import { MissedEventsController } from './missed-events.controller.js';

const NOT_MATCHING = describeError(
  new EventNotMatchingError('other_event'),
  `The subscription is for other events, or was created more than ${MAX_DAYS_BEFORE} days after this one.`,
);
const EXISTS = describeError(
  new DeliveryExistsError('019a0b1c-2d3e-7f40-8a51-b26c73d84e95'),
  'The subscription has a delivery of the event, which can be redelivered.',
);
const LIMIT_REACHED = describeError(
  new DeliveryLimitReachedError(),
  'The event was sent to 100 subscriptions that it had not matched.',
);

/** The missed events' part of the API description. */
export const missedEventsRoutes = describeRoutes(MissedEventsController, {
  tag: 'Events',
  about: 'What the platform reports, and what became of it.',
  path: { id: { about: 'The id of an event.', schema: schema.uuid('') } },
  operations: {
    deliver: {
      summary: 'Send a missed event',
      about:
        'Sends the event to a subscription that matches it and was not told of it, because it was created ' +
        'later or was off, for example: to at most 100 such subscriptions.',
      examples: { one: { webhookId: '4711' } },
      answer: AddressSchema,
      headers: ['Location'],
      errors: [NOT_MATCHING, EXISTS, LIMIT_REACHED, SUBSCRIPTION_INACTIVE, NOTIFICATION_LOOP],
    },
  },
});
