import { type HrefBuilder, schema } from '#libs/http';
import { jsonText, RawJson } from '#libs/kernel';
import { EVENT_KINDS } from '../domain/event-kinds.js';
import { shownTargetUrl } from '../domain/target-url.js';
import type { DisabledReason } from '../domain/subscription-life.js';
import type { TargetHealth, Webhook } from '../domain/webhook.js';
import { HeadersSchema, shownHeaders } from './headers.body.js';
import { RetryPolicySchema } from './retry-policy.body.js';

const HEALTH_STATES: Record<TargetHealth['state'], string> = {
  ok: 'the last attempt succeeded, or there was none',
  failing: 'every attempt since `since` failed',
  open:
    'at least 10 attempts in a row failed: nothing is sent until `until`, when one delivery finds ' +
    'out whether the target answers again',
};

const DISABLED_REASONS: Record<DisabledReason, string> = {
  gone: 'the target answered 410',
  failing: 'every attempt failed for five days',
};

const SECRET = schema.text(
  'The secret of `hmac-sha256` (Standard Webhooks 1.0.0).',
  'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
);
const PUBLIC_KEY = schema.text(
  'The public key of `ed25519` (Standard Webhooks 1.0.0).',
  'whpk_11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=',
);

const HealthSchema = schema.object(
  {
    state: schema.meanings('How the target does.', HEALTH_STATES, 'open'),
    since: schema.time('When the first of the attempts failed.'),
    until: schema.time('Until when nothing is sent, except for tests.'),
    disablesAt: schema.time('A warning: it is switched off then, if it goes on failing.'),
  },
  { optional: ['since', 'until', 'disablesAt'] },
);

/** What {@link webhookText} shows. */
export const WebhookSchema = schema.named(
  'Webhook',
  schema.object(
    {
      href: schema.href('Its address.', 'webhooks/4711'),
      id: schema.numericId('Its id.', '4711'),
      accountId: schema.integer('The account whose it is.', 83346),
      applicationId: schema.numericId(
        'The application whose events it is for; absent at account level.',
        '5080983',
      ),
      name: schema.text('A label for people; it goes into the notifications, too.', 'Billing'),
      event: schema.choice('The kind of events that it is for.', EVENT_KINDS, 'cdrCreated'),
      resource: schema.text('What the events are about: `all`, or a list.', 'call,sms'),
      targetUrl: schema.text(
        'Where the notifications are posted to; user information is shown as `***`.',
        'https://hooks.example.com/switchhook',
      ),
      payload: schema.anyObject(
        'Free-form data that goes into the notifications, as it was sent.',
        { order: 4711, tags: ['shop'] },
      ),
      enabled: schema.flag('When false, nothing is sent.', true),
      createdAt: schema.time('When it was made.'),
      updatedAt: schema.time('When a field last got another value.'),
      disabledReason: schema.meanings('Why the service switched it off.', DISABLED_REASONS, 'gone'),
      disabledAt: schema.time('When the service switched it off.'),
      paused: {
        type: 'boolean',
        const: true,
        description: 'Its deliveries wait until it is resumed.',
        examples: [true],
      },
      health: HealthSchema,
      retry: RetryPolicySchema,
      headers: HeadersSchema,
      signature: {
        type: 'string',
        const: 'ed25519',
        description: 'How notifications are signed, if not by `hmac-sha256`.',
        examples: ['ed25519'],
      },
      publicKey: PUBLIC_KEY,
    },
    {
      optional: [
        'applicationId',
        'name',
        'payload',
        'disabledReason',
        'disabledAt',
        'paused',
        'health',
        'retry',
        'headers',
        'signature',
        'publicKey',
      ],
    },
  ),
);

/** The key with which signatures are verified: one of its two members. */
export const VerificationKeySchema = schema.named('VerificationKey', {
  ...schema.object(
    { secret: SECRET, publicKey: PUBLIC_KEY },
    { optional: ['secret', 'publicKey'] },
  ),
  examples: [{ secret: SECRET.examples?.[0] }],
});

/** The JSON text of a subscription. Its payload is shown exactly as it was sent. */
export function webhookText(webhook: Webhook, href: HrefBuilder): string {
  return jsonText({
    href: href('webhooks', webhook.id),
    id: webhook.id,
    accountId: Number(webhook.accountId),
    applicationId: webhook.applicationId ?? undefined,
    name: webhook.name ?? undefined,
    event: webhook.event,
    resource: webhook.resource,
    targetUrl: shownTargetUrl(webhook.targetUrl),
    payload: webhook.payload === null ? undefined : new RawJson(webhook.payload),
    enabled: webhook.enabled,
    createdAt: webhook.createdAt,
    updatedAt: webhook.updatedAt,
    disabledReason: webhook.disabledReason ?? undefined,
    disabledAt: webhook.disabledAt ?? undefined,
    paused: webhook.paused || undefined,
    health: webhook.enabled ? webhook.health : undefined,
    retry: webhook.retry ?? undefined,
    headers: webhook.headers === null ? undefined : shownHeaders(webhook.headers),
    signature: webhook.publicKey === null ? undefined : webhook.signature,
    publicKey: webhook.publicKey ?? undefined,
  });
}
