import { type NotificationDescription, schema } from '#libs/http';
import { eventKind, resourceOrAll } from '../../event-kinds/choices.schema.js';

/** The body of a notification, as `notificationBody` writes it. */
export const NotificationSchema = schema.named(
  'Notification',
  schema.object({
    id: schema.uuid('The same on every attempt, and equal to `webhook-id`.'),
    name: schema.optional(schema.text("The subscription's `name`.", 'Billing')),
    event: eventKind('The kind of the event.'),
    resource: resourceOrAll('What the event is about:'),
    accountId: schema.numericId('The account to which it happened.', '83346'),
    applicationId: schema.optional(
      schema.numericId('The application, if the event has one.', '5080983'),
    ),
    timestamp: schema.time('When it happened.'),
    test: schema.optional(schema.flag('`true` for a test; otherwise absent.', true)),
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
    summary: 'Receive an event',
    about:
      'Posted to the `targetUrl` of a subscription at least once, and signed as Standard Webhooks 1.0.0 says. ' +
      'Only an `ordered` subscription has an order.',
    headers: {
      'webhook-id': { about: "The notification's id.", schema: schema.uuid('') },
      'webhook-timestamp': {
        about: 'When this attempt was made, in seconds since 1970.',
        schema: schema.text('', '1795262400', { pattern: '^[0-9]+$' }),
      },
      'webhook-signature': {
        about:
          'One signature for each valid key, separated by spaces: `v1,…`, or `v1a,…` with Ed25519.',
        schema: schema.text('', 'v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4='),
      },
      'webhook-replayed': {
        about: 'Only if a replay sends the notification again.',
        schema: schema.choice('', ['true']),
        optional: true,
      },
    },
    body: NotificationSchema,
    answers: {
      '2XX': 'The notification is delivered.',
      '3XX': 'A failure, which is retried. Redirects are not followed.',
      '410': 'The subscription is switched off.',
      '429': 'A failure, which is retried, after `Retry-After` if that is given.',
      '503': 'A failure, which is retried, after `Retry-After` if that is given.',
      '4XX': 'A failure, which is retried.',
      '5XX': 'A failure, which is retried.',
    },
  },
];
