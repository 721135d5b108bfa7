import { AddressSchema, describeRoutes, NEWEST_PAGE, schema, TIMES } from '#libs/http';
import { DeliveriesController } from './deliveries.controller.js';
import { AttemptSchema, DeliverySchema, DeliveryWithAttemptsSchema } from './delivery.view.js';
import { EventBatchSchema, ReportedEventSchema } from './event-body.schema.js';
import {
  AcceptedEventSchema,
  BatchResultSchema,
  EventReportSchema,
  EventSchema,
} from './event.view.js';
import { EventsController } from './events.controller.js';
import { replaysRoutes } from './replays.openapi.js';
import { StatisticsSchema } from './statistics.schema.js';

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

const OF_SUBSCRIPTION = {
  id: {
    about: 'The id of a webhook subscription.',
    schema: schema.numericId('', '4711'),
  },
};

const eventsRoutes = describeRoutes(EventsController, {
  tag: 'Events',
  about: 'What the platform reports, and what became of it.',
  path: { id: { about: 'The id of an event.', schema: schema.uuid('') } },
  operations: {
    report: {
      summary: 'Report an event',
      about:
        'For the role `platform`. After the 202 the event cannot be lost. If the outcome is not ' +
        'known, repeat it with the same `id`. A `traceparent` (W3C Trace Context) is continued to ' +
        'the target, where the operator collects traces.',
      body: ReportedEventSchema,
      examples: { smallest: event, everything: withEverything },
      answer: AcceptedEventSchema,
      headers: ['Location'],
    },
    reportBatch: {
      summary: 'Report many events',
      about:
        'For the role `platform`. Each event has a result of its own. Report those whose `code` is ' +
        '`unavailable` again, with the same `id`.',
      body: EventBatchSchema,
      examples: {
        two: { events: [event, { ...withEverything, id: 'cdr-8c1f3b', event: 'cdrRated' }] },
      },
      answer: BatchResultSchema,
    },
    list: {
      summary: 'List events',
      about: "The caller's events, or for the role `platform` all events; newest first.",
      query: {
        event: { about: 'Of this kind.', schema: schema.text('', 'cdrCreated') },
        resource: { about: 'About this.', schema: schema.text('', 'call') },
        applicationId: { about: 'Of this application.', schema: schema.text('', '5080983') },
        producerId: {
          about: "With this key of the producer's.",
          schema: schema.text('', 'cdr-8c1f3a'),
        },
        ...TIMES,
        ...NEWEST_PAGE,
      },
      answer: schema.arrayOf(EventSchema),
      headers: ['Link'],
    },
    show: {
      summary: 'Show an event',
      about: 'The event, who was told of it, and why others were not.',
      answer: EventReportSchema,
    },
  },
});

const deliveriesRoutes = describeRoutes(DeliveriesController, {
  tag: 'Deliveries',
  about: 'Notifications on their way to a subscription, and every attempt.',
  path: { id: { about: 'The id of a delivery.', schema: schema.uuid('') } },
  operations: {
    list: {
      summary: "List a subscription's deliveries",
      about: 'Newest first.',
      path: OF_SUBSCRIPTION,
      query: {
        state: { about: 'In this state.', schema: schema.text('', 'succeeded') },
        event: { about: 'Of events of this kind.', schema: schema.text('', 'cdrCreated') },
        ...TIMES,
        ...NEWEST_PAGE,
      },
      answer: schema.arrayOf(DeliverySchema),
      headers: ['Link'],
    },
    stats: {
      summary: "Show a subscription's statistics",
      about: 'How the newest attempts went, and what waits.',
      path: OF_SUBSCRIPTION,
      answer: StatisticsSchema,
    },
    show: {
      summary: 'Show a delivery',
      about: 'A delivery and its newest attempts; also after its subscription is gone.',
      answer: DeliveryWithAttemptsSchema,
    },
    attempts: {
      summary: "List a delivery's attempts",
      about: 'All of them, in the order in which they were made.',
      query: {
        limit: NEWEST_PAGE.limit!,
        after: {
          about: 'Answers those that come after the one with this number.',
          schema: { ...schema.integer('', 100), minimum: 0, maximum: 999_999_999 },
        },
      },
      answer: schema.arrayOf(AttemptSchema),
      headers: ['Link'],
    },
    redeliver: {
      summary: 'Deliver again',
      about:
        'Starts a finished delivery anew: the same id, and a full schedule of attempts. At most ' +
        '20 times in an hour.',
      answer: AddressSchema,
      headers: ['Location'],
      errors: ['delivery_not_finished', 'subscription_inactive'],
    },
    cancel: {
      summary: 'Cancel a delivery',
      about:
        'Gives up a delivery that is not finished. An attempt that is on its way ends and is ' +
        'recorded; if it succeeds, so has the delivery. Nothing changes when it was cancelled so before.',
      answer: AddressSchema,
      headers: ['Location'],
      errors: ['delivery_finished'],
    },
    test: {
      summary: 'Test a subscription',
      about: 'Sends a sample of its own event, once and at once. Answers where to see how it went.',
      path: OF_SUBSCRIPTION,
      answer: AddressSchema,
      headers: ['Location'],
      errors: ['subscription_inactive'],
    },
  },
});

/** Events, deliveries and replays in the API's description. */
export const eventRoutes = [eventsRoutes, deliveriesRoutes, replaysRoutes];
