import { computed, schema, viewOf } from '#libs/http';
import { RawJson } from '#libs/kernel';
import { shownTargetUrl } from './domain/target-url.js';
import type { RecentActivity } from './recent-activity.js';
import { SIGNATURES } from './domain/signing-key.js';
import type { DisabledReason } from './domain/subscription-life.js';
import type { PaceNow, TargetHealth, Webhook } from './domain/webhook.js';
import { FAILING_DAYS } from '../event-kinds/domain/event-kinds.js';
import { eventKind } from '../event-kinds/choices.schema.js';
import { HeadersSchema, RetryPolicySchema, shownHeaders } from './webhook-validators.js';

const { optional } = schema;

const HEALTH_STATES: Record<TargetHealth['state'], string> = {
  ok: 'the last attempt succeeded, or there was none',
  losing:
    'in the last 24 hours, notifications were `exhausted`, or the service cancelled them: `lost` says how many',
  failing: 'every attempt since `since` failed',
  open: 'at least 10 consecutive attempts failed: nothing is sent until `until`, when one delivery is sent as a probe',
};

const PACED_BY: Record<NonNullable<PaceNow['pacedBy']>, string> = {
  maxPerSecond: '`maxPerSecond` notifications were sent in the last second',
  maxConcurrent: '`maxConcurrent` calls are in flight',
  ordered: 'the notification before has neither succeeded nor finished',
};

const DISABLED_REASONS: Record<DisabledReason, string> = {
  gone: 'the target answered 410',
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
  until: optional(schema.time('Until when only tests and deliveries that are sent now are sent.')),
  disablesAt: optional(
    schema.time('When the service switches the subscription off if it keeps failing.'),
  ),
  lost: optional(
    schema.integer(
      'How many notifications ended as `exhausted`, or were cancelled by the service, in the last 24 hours; absent if none.',
      15,
    ),
  ),
  lastLostAt: optional(schema.time('When the last of them ended.')),
  pacedBy: optional(
    schema.meanings(
      'Why due notifications wait for a limit of the subscription.',
      PACED_BY,
      'maxPerSecond',
    ),
  ),
  pacedUntil: optional(
    schema.time('When the next notification may be sent, if that depends on time alone.'),
  ),
});

const ActivitySchema = schema.object({
  succeeded: schema.integer('How many attempts in the last 24 hours were answered with 2xx.', 1295),
  failed: schema.integer('How many of them failed.', 4),
  lastDeliveryAt: optional(
    schema.time('When the newest delivery was created, unless that was more than seven days ago.'),
  ),
  lastSuccessAt: optional(
    schema.time('When a notification last succeeded, tests included; absent if none ever has.'),
  ),
});

export const SignatureSchema = schema.named(
  'Signature',
  schema.choice('How notifications are signed.', SIGNATURES, 'hmac-sha256'),
);

/** A subscription, with its recent activity if that was asked for. */
export type ShownWebhook = Webhook & { activity?: RecentActivity };

/** A subscription in the form that answers contain. Its payload is shown exactly as it was sent. */
export const WebhookView = viewOf<ShownWebhook>()('Webhook', {
  href: computed(schema.href('Its address.', 'webhooks/4711'), ({ id }, href) =>
    href('webhooks', id),
  ),
  id: schema.numericId('Its id.', '4711'),
  accountId: computed(schema.accountNumber('The account that it belongs to.'), ({ accountId }) =>
    Number(accountId),
  ),
  applicationId: optional(
    schema.numericId('The application whose events it is for; absent at account level.', '5080983'),
  ),
  name: optional(schema.text('A label for people. Notifications contain it, too.', 'Billing')),
  event: eventKind('The kind of event that it is for.'),
  resource: schema.text('What the events are about: `all`, or a list.', 'call,sms'),
  targetUrl: computed(
    schema.text(
      'The URL to which notifications are posted; user information is shown as `***`.',
      'https://hooks.example.com/switchhook',
    ),
    ({ targetUrl }) => shownTargetUrl(targetUrl),
  ),
  payload: computed(
    optional(
      schema.anyObject('Free-form data that notifications contain exactly as it was sent.', {
        order: 4711,
        tags: ['shop'],
      }),
    ),
    ({ payload }) => payload && new RawJson(payload),
  ),
  filter: computed(optional(FilterSchema), ({ filter }) => filter && new RawJson(filter.text)),
  enabled: schema.flag('When false, nothing is sent.', true),
  createdAt: schema.time('When it was created.'),
  updatedAt: schema.time('When a field was last changed.'),
  disabledReason: optional(
    schema.meanings('Why the service switched the subscription off.', DISABLED_REASONS, 'gone'),
  ),
  disabledAt: optional(schema.time('When the service switched the subscription off.')),
  paused: computed(
    optional(schema.flag('`true` while its deliveries are parked; otherwise absent.', true)),
    ({ paused }) => paused || undefined,
  ),
  health: computed(optional(HealthSchema), ({ enabled, health }) => (enabled ? health : undefined)),
  retry: optional(RetryPolicySchema),
  headers: computed(optional(HeadersSchema), ({ headers }) => headers && shownHeaders(headers)),
  maxPerSecond: optional(schema.integer('The most notifications in a second.', 10)),
  maxConcurrent: optional(schema.integer('The most calls in flight.', 2)),
  ordered: computed(
    optional(
      schema.flag(
        '`true` if notifications are sent one at a time, in order; otherwise absent.',
        true,
      ),
    ),
    ({ ordered }) => ordered || undefined,
  ),
  signature: computed(
    optional(
      schema.use(SignatureSchema, {
        description: 'How notifications are signed, unless with `hmac-sha256`.',
        examples: ['ed25519'],
      }),
    ),
    ({ publicKey, signature }) => publicKey && signature,
  ),
  publicKey: optional(PUBLIC_KEY),
  activity: optional({
    ...ActivitySchema,
    description:
      'Its recent activity; only with `include=activity`. Attempts are counted with a delay of about ten seconds.',
  }),
});

/** The key with which signatures are verified: one of its two members. */
export const VerificationKeySchema = schema.named('VerificationKey', {
  ...schema.object({ secret: optional(SECRET), publicKey: optional(PUBLIC_KEY) }),
  examples: [{ secret: SECRET.examples?.[0] }],
});
