import { AddressSchema, describeError, describeRoutes, schema } from '#libs/http';
import { EventBatchSchema, ReportedEventSchema } from './event.body.js';
import { DeliveryView } from '../../deliveries/delivery.view.js';
import {
  AcceptedEventView,
  BatchResultSchema,
  EventReportSchema,
  EventView,
} from './event.view.js';
import { EVENT_ERASED, SUBSCRIPTION_INACTIVE } from '../../deliveries/deliveries.openapi.js';
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
  path: { id: { about: "The event's id.", schema: schema.uuid('') } },
  operations: {
    report: {
      summary: 'Report an event',
      about:
        'Reports an event. After a 202 response, the event cannot be lost. Without a response, ' +
        'repeat the request with the same `id`. A `traceparent` header (W3C Trace Context) is passed on to the target if the ' +
        'operator collects traces.',
      requestHeaders: NAMED_ACCOUNT,
      body: ReportedEventSchema,
      examples: { smallest: event, everything: withEverything },
      answer: AcceptedEventView.schema,
      headers: ['Location'],
    },
    reportBatch: {
      summary: 'Report many events',
      about:
        'Reports several events. Each event has its own result. Report those whose `code` is ' +
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
      about: "Returns the caller's events, newest first; for operators, those of all accounts.",
      answer: schema.arrayOf(EventView.schema),
    },
    show: {
      summary: 'Show an event',
      about: 'Returns an event, its deliveries, and why other subscriptions did not get it.',
      answer: EventReportSchema,
    },
    deliveries: {
      summary: "List an event's deliveries",
      about:
        'Returns all deliveries of an event, newest first. For operators, of an event of any account.',
      answer: schema.arrayOf(DeliveryView.schema),
    },
  },
});

const NOT_MATCHING = describeError(
  new EventNotMatchingError('other_event'),
  'The subscription is for other events, or was created more than 30 days after the event.',
);
const EXISTS = describeError(
  new DeliveryExistsError('019a0b1c-2d3e-7f40-8a51-b26c73d84e95'),
  'The subscription already has a delivery of the event, which you can redeliver.',
);
const LIMIT_REACHED = describeError(
  new DeliveryLimitReachedError(),
  'The event has already been sent to 100 subscriptions that it had not matched.',
);

/** The missed events' part of the API description. */
export const missedEventsRoutes = describeRoutes(MissedEventsController, {
  tag: 'Events',
  about: 'Events that the platform reports, and their deliveries.',
  path: { id: { about: "The event's id.", schema: schema.uuid('') } },
  operations: {
    deliver: {
      summary: 'Send a missed event',
      about:
        'Sends an event to a subscription that matches it but did not get it, for example because it was created later or ' +
        'was disabled. An event can be sent to at most 100 such subscriptions.',
      examples: { one: { webhookId: '4711' } },
      answer: AddressSchema,
      errors: [NOT_MATCHING, EXISTS, LIMIT_REACHED, EVENT_ERASED, SUBSCRIPTION_INACTIVE],
    },
  },
});

/** The part of filters in the API description. */
export const filterPreviewsRoutes = describeRoutes(FilterPreviewsController, {
  tag: 'Webhooks',
  path: {
    id: { about: "The subscription's id.", schema: schema.numericId('', '4711') },
  },
  operations: {
    preview: {
      summary: 'Try a filter',
      about:
        'Returns how many of the newest events of its kind the subscription would get with a filter, and some of them. It ' +
        'changes nothing.',
      examples: { one: { filter: { duration: { gte: 60 } } } },
      answer: FilterPreviewView.schema,
    },
    previewNew: {
      summary: 'Try a filter for a new subscription',
      about:
        'Returns how many of the newest events a subscription would get with a filter, and some of them. It creates nothing.',
      examples: {
        one: { event: 'cdrCreated', resource: 'call', filter: { duration: { gte: 60 } } },
      },
      answer: FilterPreviewView.schema,
    },
  },
});
