import { AddressSchema, DeletedSchema, describeError, describeRoutes, schema } from '#libs/http';
import { WebhookLimitReachedError } from '../domain/webhook.js';
import { WebhookActionsController } from './webhook-actions.controller.js';
import { WebhookDefaultsController, WebhookDefaultsView } from './webhook-defaults.controller.js';
import { VerificationKeySchema, WebhookView } from '../webhook.view.js';
import { ADDRESSES, WebhooksController } from './webhooks.controller.js';

const LIMIT_REACHED = describeError(
  new WebhookLimitReachedError('account'),
  'The account, or the application, already has the maximum number of webhook subscriptions.',
);

const ID = {
  about: "The subscription's id, at account or application level.",
  schema: schema.numericId('', '4711'),
};

const examples = {
  smallest: {
    event: 'cdrCreated',
    resource: 'all',
    targetUrl: 'https://hooks.example.com/switchhook',
  },
  everything: {
    name: 'Billing',
    event: 'cdrRated',
    resource: 'call, sms',
    targetUrl: 'https://user:password@hooks.example.com:8443/switchhook?from=switchhook',
    payload: { order: 4711, tags: ['shop'] },
    filter: { direction: 'in', duration: { gte: 60, not: 3600 }, 'caller.country': ['US', 'CA'] },
    enabled: true,
    retry: { schedule: [10, 60, 600], timeoutMs: 5_000 },
    headers: { 'X-Api-Key': 'f2c1a0b9', 'X-Tenant': 'shop 42' },
    signature: 'ed25519',
    maxPerSecond: 10,
    maxConcurrent: 2,
    ordered: true,
  },
};

const changes = {
  switchOff: { enabled: false },
  clear: { name: null, payload: null, filter: null, retry: null, headers: null },
  filter: { filter: { status: { not: ['delivered', null] }, to: { prefix: '+1' } } },
  otherHeaders: { headers: { 'X-Api-Key': 'f2c1a0b9' } },
  noRetry: { retry: { schedule: [] } },
  pace: { maxPerSecond: 10, maxConcurrent: 2, ordered: false },
  noPace: { maxPerSecond: null, maxConcurrent: null, ordered: null },
  other: { event: 'smsdlr', resource: 'sms', targetUrl: 'https://hooks.example.com/messages' },
};

/** What the operations have in common at both addresses. */
const SHOW = { answer: WebhookView.schema, headers: ['ETag'] as const };
const CREATE = {
  examples,
  answer: AddressSchema,
  headers: ['ETag'] as const,
  errors: [LIMIT_REACHED],
};
const UPDATE = { examples: changes, answer: AddressSchema };

const webhooksRoutes = describeRoutes(WebhooksController, {
  at: ADDRESSES.account,
  tag: 'Webhooks',
  about:
    "Webhook subscriptions of the caller's account: up to 10 at account level, and up to 10 for each application.",
  path: { id: ID },
  operations: {
    list: {
      summary: 'List subscriptions',
      about:
        'Returns all subscriptions at account level in ascending order of id, or a page of them.',
      answer: schema.arrayOf(WebhookView.schema),
    },
    show: {
      summary: 'Show a subscription',
      about: 'Returns a subscription, with its version as `ETag`.',
      ...SHOW,
    },
    create: {
      summary: 'Create a subscription',
      about: 'Creates a subscription that gets the events of all applications of the account.',
      ...CREATE,
    },
    update: {
      summary: 'Update a subscription',
      about: 'Updates the given fields. Disabling a subscription cancels its pending deliveries.',
      ...UPDATE,
    },
    delete: {
      summary: 'Delete a subscription',
      about: 'Deletes a subscription and cancels its pending deliveries.',
      answer: DeletedSchema,
    },
  },
});

const actionsRoutes = describeRoutes(WebhookActionsController, {
  ids: 'webhooks',
  tag: 'Webhooks',
  path: { id: ID },
  operations: {
    pause: {
      summary: 'Pause a subscription',
      about:
        'Parks the deliveries of a subscription, including those of later events, until it is resumed. Tests are still ' +
        'sent. Pausing again has no effect.',
      answer: AddressSchema,
    },
    resume: {
      summary: 'Resume a subscription',
      about:
        'Sends the parked deliveries of a subscription, oldest first, but not while its circuit is open or its target has ' +
        'asked it to wait with `Retry-After`. Has no effect on a subscription that is not paused.',
      answer: AddressSchema,
    },
    showSecret: {
      summary: 'Show the signing secret',
      about:
        'Returns the key that verifies signatures: the secret or, for `ed25519`, the public key.',
      answer: VerificationKeySchema,
    },
    rotateSecret: {
      summary: 'Rotate the signing secret',
      about:
        'Creates a new secret or key. The old one also signs for 24 hours; of several old ones, only the last ten do.',
      answer: VerificationKeySchema,
      headers: ['Location'],
    },
  },
});

const defaultsRoutes = describeRoutes(WebhookDefaultsController, {
  tag: 'Webhooks',
  operations: {
    show: {
      summary: 'Show the defaults',
      about:
        'Returns the configured retry schedule and timeout, which apply to subscriptions without their own.',
      answer: WebhookDefaultsView.schema,
    },
  },
});

const SAME = 'The same as under `/v1/webhooks/{id}`.';

const applicationWebhooksRoutes = describeRoutes(WebhooksController, {
  at: ADDRESSES.application,
  ids: 'applicationWebhooks',
  tag: 'Webhooks',
  about: 'A subscription of an application gets only the events of that application.',
  path: {
    applicationId: {
      about: "The application's id.",
      schema: schema.numericId('', '5080983'),
    },
    id: { ...ID, about: 'The id of a subscription of the application.' },
  },
  operations: {
    list: {
      summary: "List an application's subscriptions",
      about:
        'Returns all subscriptions of the application in ascending order of id, or a page of them.',
      answer: schema.arrayOf(WebhookView.schema),
    },
    show: { summary: "Show an application's subscription", about: SAME, ...SHOW },
    create: {
      summary: 'Create a subscription for an application',
      about: 'Creates a subscription that gets the events of the application.',
      ...CREATE,
    },
    update: { summary: "Update an application's subscription", about: SAME, ...UPDATE },
    delete: { summary: "Delete an application's subscription", about: SAME, answer: DeletedSchema },
  },
});

/** The subscriptions' part of the API description. */
export const subscriptionRoutes = [
  webhooksRoutes,
  defaultsRoutes,
  actionsRoutes,
  applicationWebhooksRoutes,
];
