import { Field, flag, integer, label, oneOf, wholeNumber } from '#libs/kernel';
import { OutboundPolicy } from '#libs/outbound';
import type { Config } from '#libs/runtime';
import {
  ALL_ACCOUNTS,
  EVENT_KINDS,
  type EventKind,
  parseResources,
} from '../../event-kinds/domain/event-kinds.js';
import { type Signature, SIGNATURES } from '../domain/signing-key.js';
import type { RetryPolicy } from '../domain/retry-policy.js';
import { concurrencyProblem, DEFAULTS, PER_SECOND } from '../domain/webhook.js';
import {
  MASKED_TARGET,
  maskProblem,
  PRIVATE_TARGET,
  RESERVED_PORT,
  targetProblem,
  targetUrlValidator,
} from '../domain/target-url.js';
import { type Filter, filterValidator } from '../../event-kinds/domain/filter.js';
import { EventKindSchema } from '../../event-kinds/choices.schema.js';
import { GivenHeaders } from '../domain/webhook-headers.js';
import {
  FILTER,
  GivenRetryPolicy,
  payload,
  resourceList,
  retryPolicyOf,
} from '../webhook-validators.js';
import { SignatureSchema } from '../webhook.view.js';

const MAX_NAME = 255;
/** The highest `DELIVERY_CONCURRENCY`, beyond which no limit can be stored. */
const MAX_CONCURRENT = 1_000;

/** `PUT /v1/webhooks/:id` */
export class UpdateWebhookDto {
  @Field(label(MAX_NAME), {
    clearsTo: null,
    trim: true,
    about: 'A label for people, which notifications contain.',
    example: 'Billing',
  })
  name?: string | null;

  @Field(oneOf(EVENT_KINDS, EventKindSchema), {
    required: true,
    about:
      'The kind of event that the subscription gets. Notices are about other subscriptions of the account or, for a ' +
      'subscription of an application, of that application: `webhookFailing` (the circuit has opened), `webhookRecovered` ' +
      '(the circuit has closed) and `webhookDisabled` (the service has disabled the subscription).',
    example: 'cdrCreated',
  })
  event?: EventKind;

  @Field(resourceList, {
    required: true,
    about:
      'What the events are about. `all` includes resources that later versions add; a subscription to notices requires it.',
    example: 'call,sms',
    read: parseResources,
  })
  resource?: string;

  @Field(
    targetUrlValidator,
    {
      required: true,
      about:
        'The URL that notifications are posted to. User information in it is sent as Basic authentication.',
      aboutNew: `It ${MASKED_TARGET}. It ${RESERVED_PORT}. It ${PRIVATE_TARGET}.`,
      aboutChange: 'The masked URL, as it is shown, keeps the current one.',
      example: 'https://hooks.example.com/switchhook',
    },
    // On a change, the service checks it, because it knows whether the value changes.
    (url, { isNew, config }) =>
      isNew
        ? (maskProblem(url) ?? targetProblem(url, new OutboundPolicy(config as Config)))
        : undefined,
  )
  targetUrl?: string;

  @Field(payload, {
    clearsTo: null,
    raw: true,
    about: 'Your own data, which notifications contain exactly as you sent it.',
    example: { order: 4711, tags: ['shop'] },
  })
  payload?: string | null;

  @Field(filterValidator, { ...FILTER, clearsTo: null })
  filter?: Filter | null;

  @Field(flag(), { about: 'Whether notifications are sent; by default, true.', example: true })
  enabled?: boolean;

  @Field(GivenRetryPolicy, {
    clearsTo: null,
    about:
      'Replaces the retry policy of the installation, from the next attempt on. It must have `schedule` or `timeoutMs`, or ' +
      'both; `{}` means the policy of the installation.',
    example: { schedule: [10, 60, 600], timeoutMs: 5_000 },
    read: retryPolicyOf,
  })
  retry?: RetryPolicy | null;

  @Field(GivenHeaders, {
    clearsTo: null,
    about:
      'Headers that are sent with every notification: values by name. Names must differ in more than case. ' +
      'You cannot set the headers of HTTP itself (`Content-…`, `Proxy-…`, `Host`, `Connection` and ' +
      'others), `User-Agent`, `Webhook-…`, `Forwarded`, `X-Forwarded-…`, `X-Real-IP`, `True-Client-IP`, ' +
      '`Via`, `Trace…` and `X-HTTP-Method-Override`, whether written with `-` or `_`, nor ' +
      '`Authorization` if `targetUrl` has user information.',
    aboutChange:
      'They replace all current headers. A masked value, as it is shown, keeps the current one.',
    example: { 'X-Api-Key': 'f2c1a0b9' },
  })
  headers?: Record<string, string> | null;

  @Field(oneOf(SIGNATURES, SignatureSchema), {
    clearsTo: DEFAULTS.signature,
    about:
      'How notifications are signed: with a shared secret, or with a private key whose public key you can fetch ' +
      '(`v1` and `v1a` of Standard Webhooks).',
    aboutNew: `By default ${DEFAULTS.signature}.`,
    aboutChange:
      'A change creates a new key; the old key also signs for 24 hours. `null` means the default, ' +
      `${DEFAULTS.signature}.`,
    example: 'ed25519',
  })
  signature?: Signature;

  @Field(integer(PER_SECOND), {
    clearsTo: null,
    about:
      'The maximum number of notifications per second, over all workers: an average, with bursts of up to 10 % more. ' +
      'Further notifications wait without using up an attempt.',
    example: 10,
  })
  maxPerSecond?: number | null;

  @Field(
    wholeNumber({ minimum: 1, maximum: MAX_CONCURRENT }).and(
      'range',
      'must be at least 1',
      (value) => value >= 1,
    ),
    {
      clearsTo: null,
      about:
        'The maximum number of notifications in flight, over all workers, up to what the installation allows for one ' +
        'subscription. Further notifications wait without using up an attempt.',
      example: 2,
    },
    // On a change, the service checks the rest.
    (value, { isNew, config }) =>
      isNew || value > MAX_CONCURRENT
        ? concurrencyProblem(value, (config as Config).DELIVERY_CONCURRENCY)
        : undefined,
  )
  maxConcurrent?: number | null;

  @Field(flag(), {
    clearsTo: DEFAULTS.ordered,
    about:
      'Whether notifications are sent one at a time, in the order in which their events were accepted. A failed one holds ' +
      'back all later ones until it succeeds or finishes.',
    example: true,
  })
  ordered?: boolean;

  @Field(oneOf([ALL_ACCOUNTS]), {
    clearsTo: DEFAULTS.accounts,
    about:
      'With `all`, a subscription to notices gets those about the subscriptions of every account. Only operators can set it, ' +
      'at account level.',
    example: ALL_ACCOUNTS,
  })
  accounts?: typeof ALL_ACCOUNTS | null;
}

/** `POST /v1/webhooks` */
export class CreateWebhookDto extends UpdateWebhookDto {
  declare event: EventKind;
  declare resource: string;
  declare targetUrl: string;
}
