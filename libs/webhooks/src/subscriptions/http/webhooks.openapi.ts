import { AddressSchema, DeletedSchema, describeError, describeRoutes, schema } from '#libs/http';
import { WebhookLimitReachedError } from '../domain/webhook.js';
import { WebhookActionsController } from './webhook-actions.controller.js';
import { VerificationKeySchema, WebhookView } from '../webhook.view.js';
import { ADDRESSES, WebhooksController } from './webhooks.controller.js';

const LIMIT_REACHED = describeError(
  new WebhookLimitReachedError('account'),
  'The account, or the application, already has as many webhook subscriptions as it may have.',
);

const ID = {
  about: 'The id of a webhook subscription, at account or application level.',
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
    "Subscriptions of the caller's account. There can be 10 at account level, and 10 for " +
    'each application.',
  path: { id: ID },
  operations: {
    list: {
      summary: 'List subscriptions',
      about: 'All subscriptions at account level by ascending id, or a page of them.',
      answer: schema.arrayOf(WebhookView.schema),
    },
    show: {
      summary: 'Show a subscription',
      about: 'Shows one subscription, with its version as `ETag`.',
      ...SHOW,
    },
    create: {
      summary: 'Create a subscription',
      about: 'It gets the events of all applications of the account.',
      ...CREATE,
    },
    update: {
      summary: 'Update a subscription',
      about: 'Changes the given fields. Switching it off cancels its pending deliveries.',
      ...UPDATE,
    },
    delete: {
      summary: 'Delete a subscription',
      about: 'This cancels its pending deliveries.',
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
        'Its deliveries, including those of later events, are `parked` until it is resumed. ' +
        'Tests are still sent. Pausing it again has no effect.',
      answer: AddressSchema,
    },
    resume: {
      summary: 'Resume a subscription',
      about:
        'Sends its parked deliveries, oldest first, but not while its circuit is open or its target has ' +
        'asked for a pause with `Retry-After`. Without a pause, this has no effect.',
      answer: AddressSchema,
    },
    showSecret: {
      summary: 'Show the signing secret',
      about: 'The key that verifies signatures: the secret, or the public key of `ed25519`.',
      answer: VerificationKeySchema,
    },
    rotateSecret: {
      summary: 'Rotate the signing secret',
      about:
        'Creates a new secret or key. The old one also signs for 24 hours; of all replaced ones, the last ten do.',
      answer: VerificationKeySchema,
      headers: ['Location'],
    },
  },
});

const SAME = 'The same as under `/v1/webhooks/{id}`.';

const applicationWebhooksRoutes = describeRoutes(WebhooksController, {
  at: ADDRESSES.application,
  ids: 'applicationWebhooks',
  tag: 'Webhooks',
  about: 'The subscriptions of an application only get its events.',
  path: {
    applicationId: {
      about: 'The id of an application of the caller.',
      schema: schema.numericId('', '5080983'),
    },
    id: { ...ID, about: 'The id of a webhook subscription of this application.' },
  },
  operations: {
    list: {
      summary: "List an application's subscriptions",
      about: 'All subscriptions of the application by ascending id, or a page of them.',
      answer: schema.arrayOf(WebhookView.schema),
    },
    show: { summary: "Show an application's subscription", about: SAME, ...SHOW },
    create: {
      summary: 'Create a subscription for an application',
      about: 'It gets the events of this application.',
      ...CREATE,
    },
    update: { summary: "Update an application's subscription", about: SAME, ...UPDATE },
    delete: { summary: "Delete an application's subscription", about: SAME, answer: DeletedSchema },
  },
});

/** The subscriptions' part of the API description. */
export const subscriptionRoutes = [webhooksRoutes, actionsRoutes, applicationWebhooksRoutes];
