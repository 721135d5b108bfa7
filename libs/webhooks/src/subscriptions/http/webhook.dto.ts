import { Field, given, Is } from '#libs/http';
import { flag, integer, label, oneOf, string, wholeNumber } from '#libs/kernel';
import { OutboundPolicy } from '#libs/outbound';
import {
  ALL_RESOURCES,
  EVENT_KINDS,
  type EventKind,
  parseResources,
  RESOURCES,
} from '../../event-kinds/domain/event-kinds.js';
import { type Signature, SIGNATURES } from '../domain/signing-key.js';
import {
  concurrencyLimit,
  DEFAULTS,
  PER_SECOND,
  type RetryPolicy,
  type WebhookChanges,
  type WebhookContent,
} from '../domain/webhook.js';
import {
  hasTargetHost,
  hasTargetPort,
  isMaskedTargetUrl,
  MASKED_TARGET,
  PRIVATE_TARGET,
  RESERVED_PORT,
  targetUrlValidator,
} from '../domain/target-url.js';
import { Filter, filterValidator } from '../../event-kinds/domain/filter.js';
import { EventKindSchema } from '../../event-kinds/choices.schema.js';
import {
  FILTER,
  GivenHeaders,
  GivenRetryPolicy,
  payload,
  retryPolicyOf,
} from '../webhook-validators.js';
import { SignatureSchema } from '../webhook.view.js';

const MAX_NAME = 255;
/** The highest `DELIVERY_CONCURRENCY`, beyond which no limit can be stored. */
const MAX_CONCURRENT = 1_000;

const ITEM = `(?:${[...RESOURCES, ALL_RESOURCES].join('|')})`;

const resourceList = string().and(
  'choice',
  `must be a comma-separated list of ${RESOURCES.join(', ')}, or all`,
  (value) => parseResources(value) !== undefined,
  { pattern: `^\\s*${ITEM}\\s*(?:,\\s*${ITEM}\\s*)*$` },
);

/** `PUT /v1/webhooks/:id` */
export class UpdateWebhookDto {
  @Field({
    clearable: true,
    trim: true,
    about: 'A label for people. Notifications contain it, too.',
    example: 'Billing',
  })
  @Is(label(MAX_NAME))
  name?: string | null;

  @Field({
    required: true,
    about:
      'The kind of event that it is for. Notices are about other subscriptions of the account or, ' +
      'for a subscription of an application, of that application: `webhookFailing` (the circuit has ' +
      'opened), `webhookRecovered` (it has closed) and `webhookDisabled` (the service has switched ' +
      'it off).',
    example: 'cdrCreated',
  })
  @Is(oneOf(EVENT_KINDS, EventKindSchema))
  event?: EventKind;

  @Field({
    required: true,
    about:
      'What the events are about; `all` includes kinds that later versions add. Notices about ' +
      'subscriptions need `all`.',
    example: 'call,sms',
  })
  @Is(resourceList)
  resource?: string;

  @Field({
    required: true,
    about:
      'The URL to which notifications are posted. User information in it is sent as Basic authentication.',
    aboutChange: 'The URL as it is shown keeps the present one.',
    example: 'https://hooks.example.com/switchhook',
  })
  @Is(
    targetUrlValidator,
    {
      onlyNew: true,
      code: 'format',
      says: MASKED_TARGET,
      holds: (value) => !isMaskedTargetUrl(value),
    },
    {
      onlyNew: true,
      code: 'not_allowed',
      says: RESERVED_PORT,
      holds: (value, { config }) => hasTargetPort(value, new OutboundPolicy(config)),
    },
    {
      onlyNew: true,
      code: 'not_allowed',
      says: PRIVATE_TARGET,
      holds: (value, { config }) => hasTargetHost(value, new OutboundPolicy(config)),
    },
  )
  targetUrl?: string;

  @Field({
    clearable: true,
    raw: true,
    about: 'Free-form data that notifications contain exactly as it was sent.',
    example: { order: 4711, tags: ['shop'] },
  })
  @Is(payload)
  payload?: string | null;

  @Field(FILTER)
  @Is(filterValidator)
  filter?: string | null;

  @Field({ about: 'When false, nothing is sent. True by default.', example: true })
  @Is(flag())
  enabled?: boolean;

  @Field({
    clearable: true,
    about:
      'Replaces the configured retries, from the next attempt on. It must have ' +
      '`schedule` or `timeoutMs`, or both; `{}` means no policy.',
    example: { schedule: [10, 60, 600], timeoutMs: 5_000 },
  })
  @Is(GivenRetryPolicy)
  retry?: RetryPolicy | null;

  @Field({
    clearable: true,
    about:
      'Values by name, sent with every notification. Names are tokens that differ in more than case. ' +
      'You cannot set the headers of HTTP itself (`Content-…`, `Proxy-…`, `Host`, `Connection` and ' +
      'such), `User-Agent`, `Webhook-…`, `Forwarded`, `X-Forwarded-…`, `X-Real-IP`, `True-Client-IP`, ' +
      '`Via`, `Trace…` and `X-HTTP-Method-Override`, whether written with `-` or `_`, nor ' +
      '`Authorization` if `targetUrl` has user information.',
    aboutChange: 'They replace all present headers. A value as it is shown keeps the present one.',
    example: { 'X-Api-Key': 'f2c1a0b9' },
  })
  @Is(GivenHeaders)
  headers?: Record<string, string> | null;

  @Field({
    clearable: true,
    about:
      'How notifications are signed: with a shared secret, or with a private key whose public key you can fetch ' +
      '(`v1` and `v1a` of Standard Webhooks).',
    aboutNew: `By default ${DEFAULTS.signature}.`,
    aboutChange:
      'A change creates a new key; the old key also signs for 24 hours. `null` means the default, ' +
      `${DEFAULTS.signature}.`,
    example: 'ed25519',
  })
  @Is(oneOf(SIGNATURES, SignatureSchema))
  signature?: Signature | null;

  @Field({
    clearable: true,
    about:
      'The most notifications per second, over all workers: on average, with bursts of 10 % more. ' +
      'Notifications beyond it wait without using up an attempt.',
    example: 10,
  })
  @Is(integer(PER_SECOND))
  maxPerSecond?: number | null;

  @Field({
    clearable: true,
    about:
      'The most calls in flight, over all workers, up to what the installation allows for one subscription. ' +
      'Notifications beyond it wait without using up an attempt.',
    example: 2,
  })
  @Is(
    wholeNumber({ minimum: 1, maximum: MAX_CONCURRENT }),
    { code: 'range', says: 'must be at least 1', holds: (value) => value >= 1 },
    {
      code: 'not_allowed',
      says: ({ config }) => concurrencyLimit(config.DELIVERY_CONCURRENCY),
      // On a change, the service checks the rest, because it knows whether the value changes.
      holds: (value, { config, isNew }) =>
        value <= (isNew ? config.DELIVERY_CONCURRENCY : MAX_CONCURRENT),
    },
  )
  maxConcurrent?: number | null;

  @Field({
    clearable: true,
    about:
      'When true, notifications are sent one at a time, in the order in which their events were ' +
      'accepted. A failed one holds back those behind it until it has succeeded or finished.',
    example: true,
  })
  @Is(flag())
  ordered?: boolean | null;
}

/** `POST /v1/webhooks` */
export class CreateWebhookDto extends UpdateWebhookDto {
  declare event: EventKind;
  declare resource: string;
  declare targetUrl: string;
}

/** What a body of PUT asks for. */
export function changesOf(body: UpdateWebhookDto): WebhookChanges {
  const { resource, filter, retry, signature, ordered } = body;
  return {
    ...given(body),
    resource: resource && parseResources(resource),
    filter: typeof filter === 'string' ? Filter.of(filter) : filter,
    retry: retry && retryPolicyOf(retry),
    signature: signature === null ? DEFAULTS.signature : signature,
    ordered: ordered === null ? DEFAULTS.ordered : ordered,
  };
}

/** What a body of POST asks for. */
export function contentOf(body: CreateWebhookDto): WebhookContent {
  return { ...DEFAULTS, ...(given(changesOf(body)) as WebhookContent) };
}
