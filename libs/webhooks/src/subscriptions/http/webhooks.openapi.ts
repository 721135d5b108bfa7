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
  'The account, or the application, has as many webhook subscriptions as it may.',
);

const FILTERS: Parameters = {
  event: {
    about: `Answers those for this kind of events: ${EVENT_KINDS.join(', ')}.`,
    schema: schema.text('', 'cdrCreated'),
  },
  resource: {
    about:
      `One of ${RESOURCES.join(', ')}, ${ALL_RESOURCES}: \`sms\` finds those to \`call,sms\` and to ` +
      '`all`, `all` finds those to `all`.',
    schema: schema.text('', 'sms'),
  },
  enabled: {
    about: 'Answers those that are on, or those that are off.',
    schema: schema.flag('', true),
  },
};

const INCLUDE: Parameters = {
  include: {
    about:
      'With `activity`, it has its attempts of the last 24 hours, its newest delivery and its last success.',
    schema: schema.choice('', ['activity']),
  },
};

const ID = {
  about: 'The id of a webhook subscription, of account or application level.',
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
    "Subscriptions of the caller's account. At account level there are 10 at the most, and 10 for " +
    'each application.',
  path: { id: ID },
  operations: {
    list: {
      summary: 'List subscriptions',
      about: 'Those at account level in ascending order of id, or a page of them.',
      query: {
        scope: {
          about: 'With `all`, those of applications, too.',
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
      about: 'Answers one subscription, and its version as `ETag`.',
      query: { ...ACCOUNT_READ, ...INCLUDE },
      answer: WebhookView.schema,
      headers: ['ETag'],
    },
    create: {
      summary: 'Create a subscription',
      about: "It gets the events of all of the account's applications.",
      examples,
      answer: AddressSchema,
      headers: ['ETag', 'Location'],
      errors: [LIMIT_REACHED],
    },
    update: {
      summary: 'Update a subscription',
      about: 'Changes the fields that are given. Switching off cancels pending deliveries.',
      examples: changes,
      answer: AddressSchema,
      headers: ['ETag'],
    },
    delete: {
      summary: 'Delete a subscription',
      about: 'Its pending deliveries are cancelled.',
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
        'Its deliveries, those of later events included, are kept as `parked` until it is resumed. ' +
        'Tests are sent all the same. Nothing changes when it is paused already.',
      answer: AddressSchema,
      headers: ['ETag', 'Location'],
    },
    resume: {
      summary: 'Resume a subscription',
      about:
        'Parked deliveries are sent, oldest first, but not while its circuit is open or its target has ' +
        'asked for a hold with `Retry-After`. Nothing changes when it is not paused.',
      answer: AddressSchema,
      headers: ['ETag', 'Location'],
    },
    showSecret: {
      summary: 'Show the signing secret',
      about: 'What signatures are verified by: the secret, or the public key of `ed25519`.',
      answer: VerificationKeySchema,
    },
    rotateSecret: {
      summary: 'Rotate the signing secret',
      about:
        'Makes a new secret, or key. The old one signs beside it for 24 hours, but no more than the ' +
        'ten that were replaced last.',
      answer: VerificationKeySchema,
      headers: ['Location'],
    },
  },
});

const applicationWebhooksRoutes = describeRoutes(WebhooksController, {
  at: ADDRESSES.application,
  ids: 'applicationWebhooks',
  tag: 'Webhooks',
  about: 'Those of an application get the events of that application alone.',
  path: {
    applicationId: {
      about: 'The id of an application of the caller.',
      schema: schema.numericId('', '5080983'),
    },
    id: { ...ID, about: 'The id of a webhook subscription of that very application.' },
  },
  operations: {
    list: {
      summary: "List an application's subscriptions",
      about: 'Those of one application in ascending order of id, or a page of them.',
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
