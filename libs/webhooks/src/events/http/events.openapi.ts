import { AddressSchema, describeError, describeRoutes, schema } from '#libs/http';
import { EventBatchSchema, ReportedEventSchema } from './event.body.js';
import { DeliveryView } from '../../deliveries/delivery.view.js';
import {
  AcceptedEventView,
  BatchResultSchema,
  EventReportSchema,
  EventView,
} from './event.view.js';
import { SUBSCRIPTION_INACTIVE } from '../../deliveries/deliveries.openapi.js';
import {
  DeliveryExistsError,
  DeliveryLimitReachedError,
  EventNotMatchingError,
} from '../domain/events.service.js';
import { EventsController } from './events.controller.js';
import { NAMED_ACCOUNT } from './named-account.js';
import { FilterPreviewsController, FilterPreviewView } from './filter-previews.controller.js';
import { MissedEventsController } from './missed-events.controller.js';

const event = {
  event: 'cdrCreated',
  resource: 'call',
  applicationId: '5080983',
  data: { callId: '8c1f3a', duration: 33258 },
};
const withEverything = {
  ...event,
  id: 'cdr-8c1f3a',
  accountId: '83346',
  occurredAt: '2026-01-31T12:00:00Z',
};

/** The events' part of the API description. */
export const eventsRoutes = describeRoutes(EventsController, {
  tag: 'Events',
  about: 'Events that the platform reports, and their deliveries.',
  path: { id: { about: 'The id of an event.', schema: schema.uuid('') } },
  operations: {
    report: {
      summary: 'Report an event',
      about:
        'For the role `platform`. Once answered with 202, the event cannot be lost. If you get no answer, ' +
        'repeat the request with the same `id`. A `traceparent` (W3C Trace Context) is passed on to ' +
        'the target, if the operator collects traces.',
      requestHeaders: NAMED_ACCOUNT,
      body: ReportedEventSchema,
      examples: { smallest: event, everything: withEverything },
      answer: AcceptedEventView.schema,
      headers: ['Location'],
    },
    reportBatch: {
      summary: 'Report many events',
      about:
        'For the role `platform`. Each event has its own result. Report events whose `code` is ' +
        '`unavailable` again, with the same `id`.',
      requestHeaders: NAMED_ACCOUNT,
      body: EventBatchSchema,
      examples: {
        two: { events: [event, { ...withEverything, id: 'cdr-8c1f3b', event: 'cdrRated' }] },
      },
      answer: BatchResultSchema,
    },
    list: {
      summary: 'List events',
      about: "The caller's events, or all events for the role `platform`; newest first.",
      answer: schema.arrayOf(EventView.schema),
    },
    show: {
      summary: 'Show an event',
      about: 'The event, its deliveries, and why other subscriptions did not get it.',
      answer: EventReportSchema,
    },
    deliveries: {
      summary: "List an event's deliveries",
      about: 'All of them, newest first. The role `platform` may list those of any account.',
      answer: schema.arrayOf(DeliveryView.schema),
    },
  },
});

const NOT_MATCHING = describeError(
  new EventNotMatchingError('other_event'),
  'The subscription is for other events, or was created more than 30 days after this one.',
);
const EXISTS = describeError(
  new DeliveryExistsError('019a0b1c-2d3e-7f40-8a51-b26c73d84e95'),
  'The subscription already has a delivery of the event, which can be redelivered.',
);
const LIMIT_REACHED = describeError(
  new DeliveryLimitReachedError(),
  'The event was already sent to 100 subscriptions that it had not matched.',
);

/** The missed events' part of the API description. */
export const missedEventsRoutes = describeRoutes(MissedEventsController, {
  tag: 'Events',
  about: 'Events that the platform reports, and their deliveries.',
  path: { id: { about: 'The id of an event.', schema: schema.uuid('') } },
  operations: {
    deliver: {
      summary: 'Send a missed event',
      about:
        'Sends the event to a subscription that matches it but has not got it, for example because it was created ' +
        'later or was off. An event can be sent to at most 100 such subscriptions.',
      examples: { one: { webhookId: '4711' } },
      answer: AddressSchema,
      errors: [NOT_MATCHING, EXISTS, LIMIT_REACHED, SUBSCRIPTION_INACTIVE],
    },
  },
});

/** The part of filters in the API description. */
export const filterPreviewsRoutes = describeRoutes(FilterPreviewsController, {
  tag: 'Webhooks',
  path: {
    id: { about: 'The id of a webhook subscription.', schema: schema.numericId('', '4711') },
  },
  operations: {
    preview: {
      summary: 'Try a filter',
      about:
        'Counts how many of the newest events of its kind the subscription would get with this filter, and shows some of ' +
        'them. It changes nothing.',
      examples: { one: { filter: { duration: { gte: 60 } } } },
      answer: FilterPreviewView.schema,
    },
  },
});
