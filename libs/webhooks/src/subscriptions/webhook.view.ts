import { computed, schema, viewOf } from '#libs/http';
import { RawJson } from '#libs/kernel';
import { shownTargetUrl } from './domain/target-url.js';
import type { RecentActivity } from './recent-activity.js';
import { SIGNATURES } from './domain/signing-key.js';
import type { DisabledReason } from './domain/subscription-life.js';
import type { PaceNow, TargetHealth, Webhook } from './domain/webhook.js';
import { ALL_ACCOUNTS, FAILING_DAYS } from '../event-kinds/domain/event-kinds.js';
import { eventKind } from '../event-kinds/choices.schema.js';
import { HeadersSchema, RetryPolicySchema, shownHeaders } from './webhook-validators.js';

const { optional } = schema;

const HEALTH_STATES: Record<TargetHealth['state'], string> = {
  ok: 'the last attempt succeeded, or there has been none',
  losing:
    'in the last 24 hours, notifications became `exhausted`, or the service cancelled them: `lost` says how many',
  failing: 'every attempt since `since` has failed',
  open: 'the circuit is open after at least 10 consecutive failures: nothing is sent until `until`, and then one delivery as a probe',
};

const PACED_BY: Record<NonNullable<PaceNow['pacedBy']>, string> = {
  maxPerSecond: '`maxPerSecond` notifications were sent in the last second',
  maxConcurrent: '`maxConcurrent` notifications are in flight',
  ordered: 'the previous notification has neither succeeded nor finished',
};

const DISABLED_REASONS: Record<DisabledReason, string> = {
  gone: 'the target responded with 410',
  failing: `every attempt failed for ${String(FAILING_DAYS)} days`,
};

const FilterSchema = schema.anyObject("Conditions on the events' `data`. All of them must hold.", {
  duration: { gte: 60 },
});

const SECRET = schema.text(
  'The secret of `hmac-sha256` (Standard Webhooks 1.0.0).',
  'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
);
const PUBLIC_KEY = schema.text(
  'The public key of `ed25519` (Standard Webhooks 1.0.0).',
  'whpk_11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=',
);

const HealthSchema = schema.object({
  state: schema.meanings('The state of the target.', HEALTH_STATES, 'open'),
  since: optional(schema.time('When the first of the consecutive failed attempts failed.')),
  until: optional(
    schema.time('Until this time, only tests and deliveries that you send now are attempted.'),
  ),
  disablesAt: optional(
    schema.time('When the service disables the subscription if the failures continue.'),
  ),
  lost: optional(
    schema.integer(
      'The number of notifications that became `exhausted`, or were cancelled by the service, in the last 24 hours; absent if there are none.',
      15,
    ),
  ),
  lastLostAt: optional(schema.time('When the last of these notifications ended.')),
  pacedBy: optional(
    schema.meanings(
      'The limit of the subscription that delays due notifications.',
      PACED_BY,
      'maxPerSecond',
    ),
  ),
  pacedUntil: optional(
    schema.time('When the next notification can be sent, if that depends on time alone.'),
  ),
});

const ActivitySchema = schema.object({
  succeeded: schema.integer('The number of attempts in the last 24 hours that succeeded.', 1295),
  failed: schema.integer('The number of attempts in the last 24 hours that failed.', 4),
  lastDeliveryAt: optional(
    schema.time(
      'When the newest delivery was created; absent if that was more than seven days ago.',
    ),
  ),
  lastSuccessAt: optional(
    schema.time('When a notification last succeeded, including tests; absent if none has.'),
  ),
});

export const SignatureSchema = schema.named(
  'Signature',
  schema.choice('How notifications are signed.', SIGNATURES, 'hmac-sha256'),
);

/** A subscription, with its recent activity if requested. */
export type ShownWebhook = Webhook & { activity?: RecentActivity };

/** A subscription in the form that answers contain. Its payload is shown exactly as it was sent. */
export const WebhookView = viewOf<ShownWebhook>()('Webhook', {
  href: computed(schema.href("The subscription's URL.", 'webhooks/4711'), ({ id }, href) =>
    href('webhooks', id),
  ),
  id: schema.numericId("The subscription's id.", '4711'),
  accountId: computed(
    schema.accountNumber('The id of the account that owns the subscription.'),
    ({ accountId }) => Number(accountId),
  ),
  applicationId: optional(
    schema.numericId(
      'The id of the application whose events the subscription gets; absent at account level.',
      '5080983',
    ),
  ),
  name: optional(schema.text('A label for people, which notifications contain.', 'Billing')),
  event: eventKind('The kind of event that the subscription gets.'),
  resource: schema.text('What the events are about: `all`, or a comma-separated list.', 'call,sms'),
  targetUrl: computed(
    schema.text(
      'The URL that notifications are posted to, with its user information masked as `***`.',
      'https://hooks.example.com/switchhook',
    ),
    ({ targetUrl }) => shownTargetUrl(targetUrl),
  ),
  payload: computed(
    optional(
      schema.anyObject('Your own data, which notifications contain exactly as you sent it.', {
        order: 4711,
        tags: ['shop'],
      }),
    ),
    ({ payload }) => payload && new RawJson(payload),
  ),
  filter: computed(optional(FilterSchema), ({ filter }) => filter && new RawJson(filter.text)),
  enabled: schema.flag('Whether notifications are sent.', true),
  createdAt: schema.time('When the subscription was created.'),
  updatedAt: schema.time('When a field of the subscription was last changed.'),
  disabledReason: optional(
    schema.meanings('Why the service disabled the subscription.', DISABLED_REASONS, 'gone'),
  ),
  disabledAt: optional(schema.time('When the service disabled the subscription.')),
  paused: computed(
    optional(schema.flag('`true` while the subscription is paused; otherwise absent.', true)),
    ({ paused }) => paused || undefined,
  ),
  health: computed(optional(HealthSchema), ({ enabled, health }) => (enabled ? health : undefined)),
  retry: optional(
    schema.use(RetryPolicySchema, { description: 'Replaces the configured retries.' }),
  ),
  headers: computed(optional(HeadersSchema), ({ headers }) => headers && shownHeaders(headers)),
  maxPerSecond: optional(schema.integer('The maximum number of notifications per second.', 10)),
  maxConcurrent: optional(schema.integer('The maximum number of notifications in flight.', 2)),
  ordered: computed(
    optional(
      schema.flag(
        '`true` if notifications are sent one at a time, in order; otherwise absent.',
        true,
      ),
    ),
    ({ ordered }) => ordered || undefined,
  ),
  accounts: optional(
    schema.choice('`all` if it gets notices about the subscriptions of every account.', [
      ALL_ACCOUNTS,
    ]),
  ),
  signature: computed(
    optional(
      schema.use(SignatureSchema, {
        description: 'How notifications are signed; absent for `hmac-sha256`.',
        examples: ['ed25519'],
      }),
    ),
    ({ publicKey, signature }) => publicKey && signature,
  ),
  publicKey: optional(PUBLIC_KEY),
  activity: optional({
    ...ActivitySchema,
    description:
      'Recent activity; only with `include=activity`. Attempts are counted with a delay of about ten seconds.',
  }),
});

/** The key with which signatures are verified: one of its two members. */
export const VerificationKeySchema = schema.named('VerificationKey', {
  ...schema.object({ secret: optional(SECRET), publicKey: optional(PUBLIC_KEY) }),
  examples: [{ secret: SECRET.examples?.[0] }],
});
