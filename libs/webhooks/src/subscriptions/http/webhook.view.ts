import { computed, schema, viewOf } from '#libs/http';
import { RawJson } from '#libs/kernel';
import { shownTargetUrl } from '../domain/target-url.js';
import type { RecentActivity } from '../recent-activity.js';
import { SIGNATURES } from '../domain/signing-key.js';
import type { DisabledReason } from '../domain/subscription-life.js';
import type { PaceNow, TargetHealth, Webhook } from '../domain/webhook.js';
import { FAILING_DAYS } from '../../event-kinds/domain/event-kinds.js';
import { eventKind } from '../../event-kinds/http/choices.schema.js';
import { HeadersSchema, RetryPolicySchema, shownHeaders } from './webhook-validators.js';

const { optional } = schema;

const HEALTH_STATES: Record<TargetHealth['state'], string> = {
  ok: 'the last attempt succeeded, or there was none',
  losing:
    'in the last 24 hours, notifications were `exhausted`, or the service cancelled them: `lost` says how many',
  failing: 'every attempt since `since` failed',
  open:
    'at least 10 attempts in a row failed: nothing is sent until `until`, when one delivery finds ' +
    'out whether the target answers again',
};

const PACED_BY: Record<NonNullable<PaceNow['pacedBy']>, string> = {
  maxPerSecond: '`maxPerSecond` notifications were sent in the last second',
  maxConcurrent: '`maxConcurrent` calls are in flight',
  ordered: 'the one before has not succeeded yet and is not finished',
};

const DISABLED_REASONS: Record<DisabledReason, string> = {
  gone: 'the target answered 410',
  failing: `every attempt failed for ${String(FAILING_DAYS)} days`,
};

const FilterSchema = schema.anyObject("Conditions on the events' `data`, all of which must hold.", {
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
  since: optional(schema.time('When the first of the attempts failed, if all since then failed.')),
  until: optional(schema.time('Until when nothing is sent, except for tests.')),
  disablesAt: optional(schema.time('A warning: it is switched off then, if it goes on failing.')),
  lost: optional(
    schema.integer(
      'How many notifications were `exhausted` in the last 24 hours, or cancelled by the service; absent for none.',
      15,
    ),
  ),
  lastLostAt: optional(schema.time('When the last of them ended.')),
  pacedBy: optional(
    schema.meanings(
      'Notifications are due and wait, because the pace of the subscription allows no more.',
      PACED_BY,
      'maxPerSecond',
    ),
  ),
  pacedUntil: optional(schema.time('When the pace allows the next one, if only time decides.')),
});

const ActivitySchema = schema.object({
  succeeded: schema.integer('How many attempts of the last 24 hours were answered with 2xx.', 1295),
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
  name: optional(
    schema.text('A label for people; it goes into the notifications, too.', 'Billing'),
  ),
  event: eventKind('The kind of events that it is for.'),
  resource: schema.text('What the events are about: `all`, or a list.', 'call,sms'),
  targetUrl: computed(
    schema.text(
      'Where the notifications are posted to; user information is shown as `***`.',
      'https://hooks.example.com/switchhook',
    ),
    ({ targetUrl }) => shownTargetUrl(targetUrl),
  ),
  payload: computed(
    optional(
      schema.anyObject('Free-form data that goes into the notifications, as it was sent.', {
        order: 4711,
        tags: ['shop'],
      }),
    ),
    ({ payload }) => payload && new RawJson(payload),
  ),
  filter: computed(optional(FilterSchema), ({ filter }) => filter && new RawJson(filter.text)),
  enabled: schema.flag('When false, nothing is sent.', true),
  createdAt: schema.time('When it was made.'),
  updatedAt: schema.time('When a field last got another value.'),
  disabledReason: optional(
    schema.meanings('Why the service switched it off.', DISABLED_REASONS, 'gone'),
  ),
  disabledAt: optional(schema.time('When the service switched it off.')),
  paused: computed(
    optional(
      schema.flag('`true` while its deliveries wait until it is resumed; else absent.', true),
    ),
    ({ paused }) => paused || undefined,
  ),
  health: computed(optional(HealthSchema), ({ enabled, health }) => (enabled ? health : undefined)),
  retry: optional(RetryPolicySchema),
  headers: computed(optional(HeadersSchema), ({ headers }) => headers && shownHeaders(headers)),
  maxPerSecond: optional(schema.integer('The most notifications in a second.', 10)),
  maxConcurrent: optional(schema.integer('The most calls in flight.', 2)),
  ordered: computed(
    optional(schema.flag('`true` if they are sent one at a time, in order; else absent.', true)),
    ({ ordered }) => ordered || undefined,
  ),
  signature: computed(
    optional(
      schema.use(SignatureSchema, {
        description: 'How notifications are signed, if not by `hmac-sha256`.',
        examples: ['ed25519'],
      }),
    ),
    ({ publicKey, signature }) => publicKey && signature,
  ),
  publicKey: optional(PUBLIC_KEY),
  activity: optional({
    ...ActivitySchema,
    description:
      'What has lately happened to it; only with `include=activity`. Attempts are counted with a delay of ' +
      'about ten seconds.',
  }),
});

/** The key with which signatures are verified: one of its two members. */
export const VerificationKeySchema = schema.named('VerificationKey', {
  ...schema.object({ secret: optional(SECRET), publicKey: optional(PUBLIC_KEY) }),
  examples: [{ secret: SECRET.examples?.[0] }],
});
