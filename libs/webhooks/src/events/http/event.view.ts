import { FaultSchema, type HrefBuilder, schema } from '#libs/http';
import { jsonText, RawJson, type UnavailableError } from '#libs/kernel';
import type { Acceptance, EventHead } from '../domain/event.js';
import type { EventReport } from '../domain/events.service.js';
import { EVENT_KINDS, RESOURCES } from '../../subscriptions/domain/event-kinds.js';
import type { UnmatchedReason } from '../domain/unmatched.js';
import { DeliverySchema, deliveryView } from '../../deliveries/http/delivery.view.js';

const id = schema.uuid('Its id.', '019a0b1c-2d3c-7a10-9c77-04d6f1e2b388');
const href = schema.href('Its address.', 'events/019a0b1c-2d3c-7a10-9c77-04d6f1e2b388');

/** What {@link acceptanceView} shows. */
export const AcceptedEventSchema = schema.named(
  'AcceptedEvent',
  schema.object({
    id,
    href,
    duplicate: schema.flag('Whether it is a repeat, which delivers nothing.', false),
    deliveries: schema.integer('How many subscriptions are told.', 2),
  }),
);

/** What {@link unavailableView} shows. */
const UnavailableEventSchema = schema.named(
  'UnavailableEvent',
  schema.object({
    error: schema.text(
      'Why it was not accepted, or why it is not known what its first report was answered with; report it again.',
      'The service cannot reach its database now.',
    ),
    code: { const: 'unavailable', type: 'string' },
  }),
);

/** The results of a batch. */
export const BatchResultSchema = schema.named(
  'BatchResult',
  schema.object({
    results: {
      ...schema.arrayOf({
        anyOf: [
          AcceptedEventSchema,
          schema.named(
            'RefusedEvent',
            schema.object({
              error: schema.text('What is wrong, in words.', 'data is required.'),
              code: { const: 'validation_failed', type: 'string' },
              errors: schema.arrayOf(FaultSchema),
            }),
          ),
          UnavailableEventSchema,
        ],
      }),
      description: 'One for each event, in order.',
    },
  }),
);

const head = {
  id,
  href,
  event: schema.choice('Its kind.', EVENT_KINDS, 'cdrCreated'),
  resource: schema.choice('What it is about.', RESOURCES, 'call'),
  accountId: schema.integer('The account that it happened to.', 83346),
  applicationId: schema.numericId('The application, if it has one.', '5080983'),
  producerId: schema.text("The producer's key, if it has one.", 'cdr-8c1f3a'),
  occurredAt: schema.time('When it happened.'),
  createdAt: schema.time('When it was accepted.'),
};

const absent = ['applicationId', 'producerId'] as const;

/** What {@link eventView} shows. */
export const EventSchema = schema.named('Event', schema.object(head, { optional: absent }));

const REASONS: Record<UnmatchedReason, string> = {
  created_later: 'it was made after the event was accepted',
  disabled: 'it is off',
  other_event: 'it is for another kind of events',
  other_resource: 'it is for other resources',
  changed_later: 'it would match now: it was changed since',
};

/** What {@link eventText} shows. */
export const EventReportSchema = schema.named(
  'EventReport',
  schema.object(
    {
      ...head,
      data: schema.anyObject('As it was sent.', { callId: '8c1f3a', duration: 33258 }),
      deliveries: { ...schema.arrayOf(DeliverySchema), description: 'Who was told, and how.' },
      unmatched: {
        ...schema.arrayOf(
          schema.named(
            'Unmatched',
            schema.object({
              webhookId: schema.numericId('A subscription.', '4712'),
              reason: schema.meanings('Why, as far as it shows now.', REASONS, 'disabled'),
            }),
          ),
        ),
        description: 'The subscriptions that could have been told, and were not.',
      },
    },
    { optional: absent },
  ),
);

/** The answer to an accepted event. */
export function acceptanceView(
  acceptance: Extract<Acceptance, { accepted: true }>,
  href: HrefBuilder,
): object {
  const { id, duplicate, deliveries } = acceptance;
  return { id, href: href('events', id), duplicate, deliveries };
}

/** The result in a batch of an event that was possibly not stored, or whose first report cannot be read. */
export function unavailableView({ message, code }: UnavailableError): object {
  return { error: message, code };
}

/** An event as it is shown in lists. */
export function eventView(event: EventHead, href: HrefBuilder): object {
  return {
    id: event.id,
    href: href('events', event.id),
    event: event.event,
    resource: event.resource,
    // A JSON integer is safe because account numbers are far below 2^53.
    accountId: Number(event.accountId),
    applicationId: event.applicationId,
    producerId: event.producerId,
    occurredAt: event.occurredAt,
    createdAt: event.createdAt,
  };
}

/** The JSON text of an event and its deliveries. `data` is shown exactly as it was sent. */
export function eventText(
  { event, deliveries, unmatched }: EventReport,
  href: HrefBuilder,
): string {
  return jsonText({
    ...eventView(event, href),
    data: new RawJson(event.data),
    deliveries: deliveries.map((delivery) => deliveryView(delivery, href)),
    unmatched,
  });
}
