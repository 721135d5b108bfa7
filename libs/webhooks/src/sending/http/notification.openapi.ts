import { type NotificationDescription, schema } from '#libs/http';
import { eventKind, resourceOrAll } from '../../event-kinds/http/choices.schema.js';

/** The body of a notification, as `notificationBody` writes it. */
export const NotificationSchema = schema.named(
  'Notification',
  schema.object({
    id: schema.uuid('The same on every attempt, and equal to `webhook-id`.'),
    name: schema.optional(schema.text("The subscription's `name`.", 'Billing')),
    event: eventKind('The kind of the event.'),
    resource: resourceOrAll('What the event is about:'),
    accountId: schema.numericId('The account that it happened to.', '83346'),
    applicationId: schema.optional(
      schema.numericId('The application, if the event has one.', '5080983'),
    ),
    timestamp: schema.time('When it happened.'),
    test: schema.optional(schema.flag('`true` on a test; else absent.', true)),
    data: schema.anyObject(
      'Byte for byte as the platform reported it. In a notice about another subscription: its ' +
        '`webhookId`, `name`, `event` and `targetUrl` (without user information), `failingSince`, ' +
        'and `disablesAt` (`webhookFailing`) or `reason` (`webhookDisabled`).',
      { callId: '8c1f3a', duration: 33258 },
    ),
    payload: schema.optional(
      schema.anyObject("The subscription's `payload`, byte for byte.", {
        order: 4711,
        tags: ['shop'],
      }),
    ),
  }),
);

/** The notifications' part of the API description. */
export const notifications: readonly NotificationDescription[] = [
  {
    name: 'notification',
    to: '{$request.body#/targetUrl}',
    operations: ['webhooksCreate', 'applicationWebhooksCreate'],
    tag: 'Notifications',
    summary: 'Be told of an event',
    about:
      'Posted to the `targetUrl` of a subscription, and signed by Standard Webhooks 1.0.0. At ' +
      'least once; no order is promised.',
    headers: {
      'webhook-id': { about: "The notification's id.", schema: schema.uuid('') },
      'webhook-timestamp': {
        about: 'When this attempt was made, in seconds since 1970.',
        schema: schema.text('', '1795262400', { pattern: '^[0-9]+$' }),
      },
      'webhook-signature': {
        about:
          'One for each key that counts now, with blanks between: `v1,…` or, of Ed25519, `v1a,…`.',
        schema: schema.text('', 'v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4='),
      },
      'webhook-replayed': {
        about: 'Only on what a replay sends again.',
        schema: schema.choice('', ['true']),
        optional: true,
      },
    },
    body: NotificationSchema,
    answers: {
      '2XX': 'It is delivered.',
      '3XX': 'A failure: redirects are not followed. It is tried again.',
      '410': 'The subscription is switched off.',
      '429': 'It is tried again, after `Retry-After` where that is given.',
      '503': 'It is tried again, after `Retry-After` where that is given.',
      '4XX': 'A failure: it is tried again.',
      '5XX': 'A failure: it is tried again.',
    },
  },
];
