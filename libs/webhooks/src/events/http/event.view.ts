import { computed, FaultSchema, schema, viewOf } from '#libs/http';
import { RawJson, type ValidationError } from '#libs/kernel';
import type { Acceptance, EventHead, EventWithData, Unstored } from '../domain/event.js';
import { eventKind, resourceOrAll } from '../../event-kinds/choices.schema.js';
import type { UnmatchedReason } from '../../event-kinds/domain/matching.js';
import { DeliveryView } from '../../deliveries/delivery.view.js';

const { optional } = schema;

const id = schema.uuid("The event's id.", '019a0b1c-2d3c-7a10-9c77-04d6f1e2b388');
const href = computed<{ id: string }>(
  schema.href("The event's URL.", 'events/019a0b1c-2d3c-7a10-9c77-04d6f1e2b388'),
  (event, hrefOf) => hrefOf('events', event.id),
);

/** The answer to an accepted event. */
export const AcceptedEventView = viewOf<Extract<Acceptance, { accepted: true }>>()(
  'AcceptedEvent',
  {
    id,
    href,
    duplicate: schema.flag(
      'Whether the event had already been reported, so that nothing is delivered.',
      false,
    ),
    deliveries: schema.integer('The number of subscriptions that the event is delivered to.', 2),
  },
);

/** The result in a batch of an event that is faulty, or that was possibly not stored. */
export const RefusedEventView = viewOf<ValidationError | Unstored>()('RefusedEvent', {
  error: computed(schema.text('The error in one sentence.', 'data is required.'), (e) => e.message),
  code: schema.choice(
    'The kind of error. After `unavailable`, report the event again; after `internal_error`, do so at growing intervals.',
    ['validation_failed', 'unavailable', 'internal_error'],
  ),
  errors: computed(
    optional({
      ...schema.arrayOf(FaultSchema),
      description: 'Every validation error, if `code` is `validation_failed`.',
    }),
    (refusal) => ('faults' in refusal ? refusal.faults : undefined),
  ),
});

const ACCEPTED = AcceptedEventView.schema;
const REFUSED = RefusedEventView.schema;

/** One object for both cases, because some generated clients cannot tell alternatives apart. */
const EventResultSchema = schema.named('EventResult', {
  type: 'object',
  description:
    'An accepted event has `id`, `href`, `duplicate` and `deliveries`; any other has `error` and `code`.',
  properties: { ...ACCEPTED.properties, ...REFUSED.properties },
});

/** The results of a batch. */
export const BatchResultSchema = schema.named(
  'BatchResult',
  schema.object({
    results: {
      ...schema.arrayOf(EventResultSchema),
      description: 'One result for each event, in the same order.',
      examples: [[schema.exampleOf(ACCEPTED), schema.exampleOf(REFUSED)]],
    },
  }),
);

/** An event in lists. */
export const EventView = viewOf<EventHead>()('Event', {
  id,
  href,
  event: eventKind("The event's kind."),
  resource: resourceOrAll('What the event is about:'),
  accountId: computed(
    schema.accountNumber("The id of the event's account."),
    // A JSON integer is safe because account numbers are far below 2^53.
    ({ accountId }) => Number(accountId),
  ),
  applicationId: optional(
    schema.numericId("The id of the event's application, if it has one.", '5080983'),
  ),
  producerId: optional(
    schema.text("The producer's key for the event, if it has one.", 'cdr-8c1f3a'),
  ),
  occurredAt: schema.time('When the event happened.'),
  createdAt: schema.time('When the event was accepted.'),
  erasedAt: optional(
    schema.time('When the data of the event was erased, which is empty since; absent otherwise.'),
  ),
  data: computed(
    optional(
      schema.anyObject("The event's data, exactly as it was reported; only with `include=data`.", {
        callId: '8c1f3a',
        duration: 33258,
      }),
    ),
    ({ data }) => (data === undefined ? undefined : new RawJson(data)),
  ),
});

const REASONS: Record<UnmatchedReason, string> = {
  other_event: 'it is for another kind of event',
  other_resource: 'it is for other resources',
  created_later: 'it was created after the event was accepted',
  disabled: 'it is disabled',
  filter: "its filter excludes the event, or cannot be applied to the event's data",
  changed_later: 'it has been changed since, and would match now',
};

const UnmatchedSchema = schema.named(
  'Unmatched',
  schema.object({
    webhookId: schema.numericId("The subscription's id.", '4712'),
    reason: schema.meanings(
      'The first of these reasons that applies to the subscription as it is now.',
      REASONS,
      'disabled',
    ),
  }),
);

/** Most deliveries that are shown with their event. */
export const SHOWN = 100;

/** An event without its deliveries. `data` is shown exactly as it was sent. */
export const EventWithDataView = viewOf<EventWithData>()('EventWithData', {
  ...EventView.members,
  data: computed(
    schema.anyObject("The event's data, exactly as it was reported.", {
      callId: '8c1f3a',
      duration: 33258,
    }),
    ({ data }) => new RawJson(data),
  ),
});

/** A single event: {@link EventWithDataView} with its deliveries, which are read as they are sent. */
export const EventReportSchema = schema.named(
  'EventReport',
  schema.object({
    ...EventWithDataView.members,
    deliveries: {
      ...schema.arrayOf(DeliveryView.schema),
      description: `The newest ${SHOWN} deliveries of the event.`,
    },
    unmatched: {
      ...schema.arrayOf(UnmatchedSchema),
      description:
        "Subscriptions that did not get the event: those at account level, and those of the event's application. " +
        'Those of other applications are not listed.',
    },
  }),
);
