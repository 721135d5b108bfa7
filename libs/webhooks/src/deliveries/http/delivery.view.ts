import { computed, schema, viewOf } from '#libs/http';
import type { Principal } from '#libs/identity';
import { RawJson } from '#libs/kernel';
import { isPublicAddress } from '#libs/outbound';
import type {
  Attempt,
  AttemptDetail,
  AttemptError,
  Delivery,
  DeliveryReason,
  DeliveryState,
} from '../domain/delivery.js';
import { namesAddress } from '../../subscriptions/domain/target-url.js';
import { FAILING_DAYS } from '../../event-kinds/domain/event-kinds.js';
import { eventKind, resourceOrAll } from '../../event-kinds/http/choices.schema.js';

const { optional } = schema;

/** The meaning of each state. The type ensures that none is missing. */
const STATES: Record<DeliveryState, string> = {
  pending: 'under way, or waiting for its next attempt',
  succeeded: 'the target answered 2xx',
  exhausted: 'given up',
  cancelled: 'its subscription was switched off or deleted, or its customer cancelled it',
  parked: 'pending, while the subscription is held, paused, or its circuit is open',
};

const REASONS: Record<DeliveryReason, string> = {
  gone: 'the target answered 410',
  no_attempts_left: 'every attempt failed',
  failing: `the subscription was switched off, as every attempt had failed for ${String(FAILING_DAYS)} days`,
  disabled: 'the subscription was switched off',
  deleted: 'the subscription was deleted',
  requested: 'the customer cancelled it',
  expired: 'it was kept as long as events are kept',
};

const ATTEMPT_ERRORS: Record<AttemptError, string> = {
  dns: 'the name has no address',
  refused: 'the connection was refused',
  reset: 'the connection broke',
  timeout: 'there was no answer in time',
  tls: 'the certificate or the handshake failed',
  blocked: 'the address, or the port, is not one that may be called',
  protocol: 'the answer was not valid HTTP',
};

const ATTEMPT_DETAILS: Record<AttemptDetail, string> = {
  expired: 'the certificate has expired, or is not valid yet',
  name: 'the certificate, or the server, is for another name',
  untrusted: 'no trusted authority has issued the certificate, or one of its chain is missing',
  client_certificate: 'the target wants a certificate of the client, which is not sent',
  protocol: 'there is no common version or cipher of TLS, or the target broke off the handshake',
  other: 'something else failed in TLS',
  proxy: 'the proxy of the installation answered that it does not reach the target, or may not',
};

export const DeliveryStateSchema = schema.named(
  'DeliveryState',
  schema.meanings('How a delivery stands.', STATES, 'exhausted'),
);

/** Most attempts that are shown with their delivery. */
export const LOGGED = 100;

const OUTCOME = {
  at: schema.time('When it began.'),
  durationMs: schema.integer('Until the headers of the answer, or the failure, in ms.', 123),
  status: optional(schema.integer("The status of the target's answer, if there was one.", 410)),
  error: optional(schema.meanings('Why there was no answer.', ATTEMPT_ERRORS, 'timeout')),
  detail: optional(
    schema.meanings(
      'What failed, if `error` is `tls`, or if a proxy refused.',
      ATTEMPT_DETAILS,
      'expired',
    ),
  ),
};

const LastAttemptSchema = schema.named('LastAttempt', schema.object(OUTCOME));

/** A delivery in the form that answers contain. */
export const DeliveryView = viewOf<Delivery>()('Delivery', {
  id: schema.uuid("Its id, and the notification's `webhook-id`."),
  href: computed(
    schema.href('Its address.', 'deliveries/019a0b1c-2d3e-7f40-8a51-b26c73d84e95'),
    ({ id }, href) => href('deliveries', id),
  ),
  eventId: schema.uuid('The event that is told of.', '019a0b1c-2d3c-7a10-9c77-04d6f1e2b388'),
  webhookId: schema.numericId('The subscription that is told.', '4711'),
  event: eventKind('The kind of the event.'),
  resource: resourceOrAll('What the event is about:'),
  applicationId: optional(
    schema.numericId('The application of the event, if it has one.', '5080983'),
  ),
  producerId: optional(
    schema.text("The producer's key of the event, if it has one.", 'cdr-8c1f3a'),
  ),
  targetUrl: schema.text(
    'As the subscription has it now; user information is shown as `***`.',
    'https://hooks.example.com/switchhook',
  ),
  state: DeliveryStateSchema,
  reason: optional(schema.meanings('Why it ended without success.', REASONS, 'gone')),
  attempts: schema.integer('How many attempts are recorded.', 1),
  lastAttempt: optional(
    schema.use(LastAttemptSchema, { description: 'How the last of them ended.' }),
  ),
  nextAttemptAt: optional(
    schema.time(
      'When it is tried next, while it is pending, not paused, and no attempt is on its way. A time in the past: ' +
        'it is due, and waits for the pace of its subscription or for a free slot.',
    ),
  ),
  waitsFor: optional(
    schema.choice(
      'What it waits for, if that is not its target, its schedule or its subscription. `hold`: our own network reaches no ' +
        'target. It is sent once that has ended, and no attempt is used up.',
      ['hold'],
    ),
  ),
  createdAt: schema.time('When the event was accepted.'),
  completedAt: optional(schema.time('When it ended.')),
  test: schema.flag('Whether it was asked for as a test.', false),
  notification: computed(
    optional(
      schema.anyObject(
        "The body that its target gets, with the subscription's present `name` and `payload`; only with " +
          '`include=notification`.',
        { id: '019a0b1c-2d3e-7f40-8a51-b26c73d84e95', data: { callId: '8c1f3a' } },
      ),
    ),
    ({ notification }) => (notification === undefined ? undefined : new RawJson(notification)),
  ),
});

const ms = (about: string) => optional(schema.integer(about, 12));

const RequestSchema = schema.named(
  'AttemptRequest',
  schema.object({
    method: schema.text('', 'POST'),
    url: schema.text(
      'The URL that was sent, in the normal form of URLs; user information is shown as `***`.',
      'https://hooks.example.com/switchhook',
    ),
    headers: {
      type: 'object',
      description:
        "Its headers, besides those of the connection and `Accept-Encoding: identity`. Values of the subscription's own headers are shown as `***`.",
      additionalProperties: { type: 'string' },
      examples: [{ 'webhook-id': '019a0b1c-2d3e-7f40-8a51-b26c73d84e95' }],
    },
  }),
);

const PhasesSchema = schema.named(
  'AttemptPhases',
  schema.object({
    queued: ms('From the acceptance of the event until the call; for the first attempt.'),
    dns: ms('Resolving the name of the target.'),
    connect: ms('Opening the connection.'),
    tls: ms('Agreeing on TLS.'),
    firstByte: ms('From sending the request until the headers of the answer.'),
    body: ms('Reading the body of the answer.'),
  }),
);

/** An attempt in the form that answers contain. */
export const AttemptView = viewOf<Attempt>()('Attempt', {
  number: schema.integer('The first attempt is 1.', 1),
  at: OUTCOME.at,
  durationMs: OUTCOME.durationMs,
  request: optional(
    schema.use(RequestSchema, {
      description: 'What was sent. Its body is made of the event, `GET /v1/events/{eventId}`.',
    }),
  ),
  phases: optional(
    schema.use(PhasesSchema, {
      description:
        'How long each part took that took place, in ms. A connection that was kept open is not opened again.',
    }),
  ),
  status: OUTCOME.status,
  error: OUTCOME.error,
  detail: OUTCOME.detail,
  address: optional(
    schema.text(
      'The address that was called; not one that is not public, where a name led to it.',
      '203.0.113.7',
    ),
  ),
  responseHeaders: optional({
    type: 'object',
    description:
      "The headers of the target's answer: a text each, or a list of texts where it sent several.",
    additionalProperties: {},
    examples: [{ 'content-type': 'text/plain' }],
  }),
  responseBody: optional(
    schema.text("The beginning of the answer's body, decompressed and decoded.", 'no such hook'),
  ),
  truncated: schema.flag('Whether there was more of the body.', false),
});

/** A single delivery: {@link DeliveryView} with its attempts, which are read as they are sent. */
export const DeliveryWithAttemptsSchema = schema.named(
  'DeliveryWithAttempts',
  schema.object({
    ...DeliveryView.members,
    attemptLog: {
      ...schema.arrayOf(AttemptView.schema),
      description: `The newest ${LOGGED} attempts, in the order in which they were made.`,
    },
  }),
);

/**
 * An attempt as far as its viewer may see it. If a name resolved to a non-public address, only the
 * platform sees it, because it reveals the operator's network.
 */
export function visibleAttempt(
  attempt: Attempt,
  { targetUrl }: Pick<Delivery, 'targetUrl'>,
  viewer: Pick<Principal, 'role'>,
): Attempt {
  const { address, ...others } = attempt;
  const isShown =
    address === undefined ||
    viewer.role === 'platform' ||
    isPublicAddress(address) ||
    namesAddress(targetUrl, address);
  return isShown ? attempt : others;
}
