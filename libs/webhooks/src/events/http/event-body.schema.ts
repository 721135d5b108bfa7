import { ID_RULE, ID_SCHEMA, schema, TIME_RULE } from '#libs/http';
import { EVENT_KINDS, RESOURCES } from '../../subscriptions/domain/event-kinds.js';
import { MAX_DATA_BYTES, MAX_PRODUCER_ID } from './event.body.js';
import { MAX_BATCH } from './events.controller.js';

/** An id in a body: an integer or a string of digits. */
const id = (description: string, example: string) => ({
  type: ['integer', 'string'],
  ...ID_SCHEMA,
  description: `${description} It ${ID_RULE}.`,
  examples: [example],
});

/** The input of `readEvent`. A test compares the two. */
export const ReportedEventSchema = schema.named('ReportedEvent', {
  type: 'object',
  properties: {
    id: schema.text(
      "The producer's key, unique per account and `event`: a repeat delivers nothing. It must not " +
        'contain U+0000 or lone surrogates.',
      'cdr-8c1f3a',
      { minLength: 1, maxLength: MAX_PRODUCER_ID, pattern: '^[^\\u0000]*$' },
    ),
    event: schema.choice('The kind of the event.', EVENT_KINDS, 'cdrCreated'),
    resource: schema.choice('What it is about.', RESOURCES, 'call'),
    applicationId: id('The application that it happened to, also after its deletion.', '5080983'),
    accountId: id('The account; that of the application, if both are given.', '83346'),
    occurredAt: schema.time(`When it happened; else the time of acceptance. It ${TIME_RULE}.`),
    data: schema.anyObject(
      'What happened; delivered byte for byte as it was sent. ' +
        `It must have at most ${MAX_DATA_BYTES} bytes of text.`,
      { callId: '8c1f3a', duration: 33258 },
    ),
  },
  required: ['event', 'resource', 'data'],
  ...schema.someOf(['applicationId', 'accountId']),
});

/** The body of `POST /v1/events/batch`. */
export const EventBatchSchema = schema.named('EventBatch', {
  type: 'object',
  properties: {
    events: {
      type: 'array',
      minItems: 1,
      maxItems: MAX_BATCH,
      description: 'Each is judged on its own: a faulty one, too, stops no other.',
      items: ReportedEventSchema,
    },
  },
  required: ['events'],
});
