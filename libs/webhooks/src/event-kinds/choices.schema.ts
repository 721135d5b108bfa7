import { parameter, schema } from '#libs/http';
import { oneOf } from '#libs/kernel';
import { ALL_RESOURCES, EVENT_KINDS, RESOURCES } from './domain/event-kinds.js';

export const EventKindSchema = schema.named(
  'EventKind',
  schema.choice("An event's kind.", EVENT_KINDS, 'cdrCreated'),
);

export const ResourceSchema = schema.named(
  'Resource',
  schema.choice('What an event is about.', RESOURCES, 'call'),
);

/** The parameter of a query that filters by event kind. */
export const eventParameter = (about: string) =>
  parameter.filter(oneOf(EVENT_KINDS), `${about}: ${EVENT_KINDS.join(', ')}.`, 'cdrCreated');

/** A filter by resource. */
export const resourceValidator = oneOf([...RESOURCES, ALL_RESOURCES]);

export const eventKind = (description: string) =>
  schema.use(EventKindSchema, { description, examples: ['cdrCreated'] });

/** No choice of its own: some generated clients would rename the constants of {@link ResourceSchema}. */
export const resourceOrAll = (description: string) =>
  schema.text(
    `${description} ${RESOURCES.join(', ')}, or \`${ALL_RESOURCES}\` in a notice about a subscription.`,
    'call',
  );
