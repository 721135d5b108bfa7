import {
  AddressSchema,
  DeletedSchema,
  describeError,
  describeRoutes,
  OPTIONAL_PAGE,
  type Parameters,
  schema,
} from '#libs/http';
import { ACCOUNT_READ } from '#libs/identity/http';
import { ALL_RESOURCES, EVENT_KINDS, RESOURCES } from '../../event-kinds/domain/event-kinds.js';
import { WebhookLimitReachedError } from '../domain/webhook.js';
import { WebhookActionsController } from './webhook-actions.controller.js';
import { VerificationKeySchema, WebhookView } from './webhook.view.js';
import { ADDRESSES, WebhooksController } from './webhooks.controller.js';

const LIMIT_REACHED = describeError(
  new WebhookLimitReachedError('account'),
  'The account, or the application, already has as many webhook subscriptions as it may have.',
);

const FILTERS: Parameters = {
  event: {
    about: `Only subscriptions for this kind of event: ${EVENT_KINDS.join(', ')}.`,
    schema: schema.text('', 'cdrCreated'),
  },
  resource: {
    about:
      `One of ${RESOURCES.join(', ')}, ${ALL_RESOURCES}: \`sms\` finds subscriptions for \`call,sms\` and for ` +
      '`all`; `all` finds those for `all`.',
    schema: schema.text('', 'sms'),
  },
  enabled: {
    about: 'Only subscriptions that are on (`true`) or off (`false`).',
    schema: schema.flag('', true),
  },
};

const INCLUDE: Parameters = {
  include: {
    about:
      '`activity` adds the attempts of the last 24 hours, the newest delivery and the last success.',
    schema: schema.choice('', ['activity']),
  },
};

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
      query: {
        scope: {
          about: '`all` includes the subscriptions of applications.',
          schema: schema.choice('', ['all']),
        },
        ...ACCOUNT_READ,
        ...FILTERS,
        ...INCLUDE,
        ...OPTIONAL_PAGE,
      },
      answer: schema.arrayOf(WebhookView.schema),
      headers: ['Link'],
    },
    show: {
      summary: 'Show a subscription',
      about: 'Shows one subscription, with its version as `ETag`.',
      query: { ...ACCOUNT_READ, ...INCLUDE },
      answer: WebhookView.schema,
      headers: ['ETag'],
    },
    create: {
      summary: 'Create a subscription',
      about: 'It gets the events of all applications of the account.',
      examples,
      answer: AddressSchema,
      headers: ['ETag', 'Location'],
      errors: [LIMIT_REACHED],
    },
    update: {
      summary: 'Update a subscription',
      about: 'Changes the given fields. Switching it off cancels its pending deliveries.',
      examples: changes,
      answer: AddressSchema,
      headers: ['ETag'],
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
      headers: ['ETag', 'Location'],
    },
    resume: {
      summary: 'Resume a subscription',
      about:
        'Sends its parked deliveries, oldest first, but not while its circuit is open or its target has ' +
        'asked for a pause with `Retry-After`. Without a pause, this has no effect.',
      answer: AddressSchema,
      headers: ['ETag', 'Location'],
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
      query: { ...ACCOUNT_READ, ...FILTERS, ...INCLUDE, ...OPTIONAL_PAGE },
      answer: schema.arrayOf(WebhookView.schema),
      headers: ['Link'],
    },
    show: {
      summary: "Show an application's subscription",
      about: 'The same as under `/v1/webhooks/{id}`.',
      query: { ...ACCOUNT_READ, ...INCLUDE },
      answer: WebhookView.schema,
      headers: ['ETag'],
    },
    create: {
      summary: 'Create a subscription for an application',
      about: 'It gets the events of this application.',
      examples,
      answer: AddressSchema,
      headers: ['ETag', 'Location'],
      errors: [LIMIT_REACHED],
    },
    update: {
      summary: "Update an application's subscription",
      about: 'The same as under `/v1/webhooks/{id}`.',
      examples: changes,
      answer: AddressSchema,
      headers: ['ETag'],
    },
    delete: {
      summary: "Delete an application's subscription",
      about: 'The same as under `/v1/webhooks/{id}`.',
      answer: DeletedSchema,
    },
  },
});

/** The subscriptions' part of the API description. */
export const subscriptionRoutes = [webhooksRoutes, actionsRoutes, applicationWebhooksRoutes];
