import { type NotificationDescription, schema } from '#libs/http';
import { eventKind, resourceOrAll } from '../../event-kinds/choices.schema.js';

/** The body of a notification, as `notificationBody` writes it. */
export const NotificationSchema = schema.named(
  'Notification',
  schema.object({
    id: schema.uuid("The notification's id: the same on every attempt, and equal to `webhook-id`."),
    name: schema.optional(schema.text("The subscription's `name`.", 'Billing')),
    event: eventKind("The event's kind."),
    resource: resourceOrAll('What the event is about:'),
    accountId: schema.numericId("The id of the event's account.", '83346'),
    applicationId: schema.optional(
      schema.numericId("The id of the event's application, if it has one.", '5080983'),
    ),
    timestamp: schema.time('When the event happened.'),
    test: schema.optional(schema.flag('`true` for a test; otherwise absent.', true)),
    data: schema.anyObject(
      "The event's data, byte for byte as it was reported. In a notice about another subscription: its `webhookId`, " +
        '`accountId`, `name`, `event` and `targetUrl` (without user information), `failingSince`, and `disablesAt` (`webhookFailing`) or ' +
        '`reason` (`webhookDisabled`).',
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
      'Sent to the `targetUrl` of a subscription at least once, and signed according to Standard Webhooks 1.0.0. Only ' +
      '`ordered` subscriptions guarantee an order.',
    headers: {
      'webhook-id': { about: "The notification's id.", schema: schema.uuid('') },
      'webhook-timestamp': {
        about: 'The time of the attempt, in seconds since 1970.',
        schema: schema.text('', '1795262400', { pattern: '^[0-9]+$' }),
      },
      'webhook-signature': {
        about:
          'One signature for each valid key, separated by spaces: `v1,…`, or `v1a,…` with Ed25519.',
        schema: schema.text('', 'v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4='),
      },
      'webhook-replayed': {
        about: 'Present only if a replay sends the notification again.',
        schema: schema.choice('', ['true']),
        optional: true,
      },
    },
    body: NotificationSchema,
    answers: {
      '2XX': 'The notification is delivered.',
      '3XX': 'The attempt fails and is retried. Redirects are not followed.',
      '410': 'The attempt fails, and the subscription is disabled.',
      '429': 'The attempt fails and is retried, after `Retry-After` if given.',
      '503': 'The attempt fails and is retried, after `Retry-After` if given.',
      '4XX': 'The attempt fails and is retried.',
      '5XX': 'The attempt fails and is retried.',
    },
  },
];
