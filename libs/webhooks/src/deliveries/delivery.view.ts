import { computed, schema, viewOf } from '#libs/http';
import { isOperator, type Principal } from '#libs/identity';
import { RawJson } from '#libs/kernel';
import { isPublicAddress } from '#libs/outbound';
import type {
  Attempt,
  AttemptDetail,
  AttemptError,
  Delivery,
  DeliveryReason,
  DeliveryState,
} from './domain/delivery.js';
import { namesAddress } from '../subscriptions/domain/target-url.js';
import { FAILING_DAYS } from '../event-kinds/domain/event-kinds.js';
import { eventKind, resourceOrAll } from '../event-kinds/choices.schema.js';

const { optional } = schema;

/** The meaning of each state. The type ensures that none is missing. */
const STATES: Record<DeliveryState, string> = {
  pending: 'in flight, or waiting for the next attempt',
  succeeded: 'the target responded with 2xx',
  exhausted: 'given up after failed attempts',
  cancelled:
    'the subscription was disabled or deleted, the customer cancelled the delivery, or its event was erased',
  parked:
    'pending, while the subscription is paused, its circuit is open, or its target has asked to wait with `Retry-After`',
};

const REASONS: Record<DeliveryReason, string> = {
  gone: 'the target responded with 410',
  no_attempts_left: 'every attempt failed',
  failing: `the subscription was disabled, because every attempt had failed for ${String(FAILING_DAYS)} days`,
  disabled: 'the subscription was disabled',
  deleted: 'the subscription was deleted',
  requested: 'the customer cancelled the delivery',
  erased: 'the data of its event was erased',
  expired: 'the retention of its event ended',
};

const ATTEMPT_ERRORS: Record<AttemptError, string> = {
  dns: 'the host name has no address',
  refused: 'the connection was refused',
  reset: 'the connection was closed',
  timeout: 'there was no response in time',
  tls: 'the TLS handshake failed, or the certificate is not valid',
  blocked: 'the address or the port is not allowed',
  protocol: 'the response was not valid HTTP',
};

const ATTEMPT_DETAILS: Record<AttemptDetail, string> = {
  expired: 'the certificate has expired, or is not valid yet',
  name: 'the certificate or the server is for another host name',
  untrusted:
    'no trusted authority issued the certificate, or a certificate of its chain is missing',
  client_certificate: 'the target requires a client certificate, but none is sent',
  protocol: 'there is no common TLS version or cipher, or the target aborted the handshake',
  other: 'something else failed in TLS',
  proxy: 'the egress proxy could not reach the target, or refused the connection',
};

export const DeliveryStateSchema = schema.named(
  'DeliveryState',
  schema.meanings('The state of a delivery.', STATES, 'exhausted'),
);

/** Most attempts that are shown with their delivery. */
export const LOGGED = 100;

const OUTCOME = {
  at: schema.time('When the attempt started.'),
  durationMs: schema.integer('The time until the response headers or the failure, in ms.', 123),
  status: optional(
    schema.integer("The status code of the target's response; absent without a response.", 410),
  ),
  error: optional(schema.meanings('Why there was no response.', ATTEMPT_ERRORS, 'timeout')),
  detail: optional(
    schema.meanings(
      'What exactly failed, if `error` is `tls` or the egress proxy refused the connection.',
      ATTEMPT_DETAILS,
      'expired',
    ),
  ),
};

const LastAttemptSchema = schema.named('LastAttempt', schema.object(OUTCOME));

/** A delivery in the form that answers contain. */
export const DeliveryView = viewOf<Delivery>()('Delivery', {
  id: schema.uuid("The delivery's id, which is also the `webhook-id` of its notification."),
  href: computed(
    schema.href("The delivery's URL.", 'deliveries/019a0b1c-2d3e-7f40-8a51-b26c73d84e95'),
    ({ id }, href) => href('deliveries', id),
  ),
  eventId: schema.uuid("The event's id.", '019a0b1c-2d3c-7a10-9c77-04d6f1e2b388'),
  webhookId: schema.numericId("The subscription's id.", '4711'),
  event: eventKind("The event's kind."),
  resource: resourceOrAll('What the event is about:'),
  applicationId: optional(
    schema.numericId("The id of the event's application, if it has one.", '5080983'),
  ),
  producerId: optional(
    schema.text("The producer's key for the event, if it has one.", 'cdr-8c1f3a'),
  ),
  targetUrl: schema.text(
    'The current target URL of the subscription, with its user information masked as `***`.',
    'https://hooks.example.com/switchhook',
  ),
  state: DeliveryStateSchema,
  reason: optional(schema.meanings('Why the delivery ended without success.', REASONS, 'gone')),
  attempts: schema.integer('The number of recorded attempts.', 1),
  lastAttempt: optional(schema.use(LastAttemptSchema, { description: 'The last attempt.' })),
  nextAttemptAt: optional(
    schema.time(
      'When the next attempt is due, while the delivery is pending, and neither paused nor in flight. If the time has ' +
        'passed, the delivery waits for a limit of its subscription or for a free slot.',
    ),
  ),
  waitsFor: optional(
    schema.choice(
      'What else the delivery waits for, besides its target, its schedule and its subscription. `hold`: the network of the ' +
        'service reaches no target. The delivery is sent when that ends, and uses up no attempt.',
      ['hold'],
    ),
  ),
  createdAt: schema.time('When the event was accepted.'),
  completedAt: optional(schema.time('When the delivery finished.')),
  erasedAt: optional(
    schema.time(
      'When the data of the event was erased, and the stored responses; absent otherwise. The delivery cannot be sent again.',
    ),
  ),
  test: schema.flag('Whether the delivery is a test.', false),
  notification: computed(
    optional(
      schema.anyObject(
        'The body of the notification, with the current `name` and `payload` of the subscription; only with ' +
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
    method: schema.text('The method.', 'POST'),
    url: schema.text(
      'The requested URL, normalized, with its user information masked as `***`.',
      'https://hooks.example.com/switchhook',
    ),
    headers: {
      type: 'object',
      description:
        "The headers, except those of the connection and `Accept-Encoding: identity`. The values of the subscription's own headers are masked as `***`.",
      additionalProperties: { type: 'string' },
      examples: [{ 'webhook-id': '019a0b1c-2d3e-7f40-8a51-b26c73d84e95' }],
    },
  }),
);

const PhasesSchema = schema.named(
  'AttemptPhases',
  schema.object({
    queued: ms('From the acceptance of the event until the attempt; only for the first attempt.'),
    dns: ms('Resolving the host name.'),
    connect: ms('Opening the connection.'),
    tls: ms('The TLS handshake.'),
    firstByte: ms('From sending the request until the response headers.'),
    body: ms('Reading the response body.'),
  }),
);

/** An attempt in the form that answers contain. */
export const AttemptView = viewOf<Attempt>()('Attempt', {
  number: schema.integer('The number of the attempt, starting with 1.', 1),
  at: OUTCOME.at,
  durationMs: OUTCOME.durationMs,
  request: optional(
    schema.use(RequestSchema, {
      description:
        'The request. Its body contains the event, which `GET /v1/events/{eventId}` returns.',
    }),
  ),
  phases: optional(
    schema.use(PhasesSchema, {
      description:
        'The duration of each phase, in ms. A reused connection has no phases for opening it.',
    }),
  ),
  status: OUTCOME.status,
  error: OUTCOME.error,
  detail: OUTCOME.detail,
  address: optional(
    schema.text(
      'The IP address that the request was sent to. Only operators see a non-public address that a host name resolved to.',
      '203.0.113.7',
    ),
  ),
  responseHeaders: optional({
    type: 'object',
    description:
      'The response headers. A header that was sent several times is an array of strings.',
    additionalProperties: {},
    examples: [{ 'content-type': 'text/plain' }],
  }),
  responseBody: optional(
    schema.text('The beginning of the response body, decompressed and decoded.', 'no such hook'),
  ),
  truncated: schema.flag('Whether the response body was longer.', false),
});

/** A single delivery: {@link DeliveryView} with its attempts, which are read as they are sent. */
export const DeliveryWithAttemptsSchema = schema.named(
  'DeliveryWithAttempts',
  schema.object({
    ...DeliveryView.members,
    attemptLog: {
      ...schema.arrayOf(AttemptView.schema),
      description: `The newest ${LOGGED} attempts, oldest first.`,
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
    isOperator(viewer.role) ||
    isPublicAddress(address) ||
    namesAddress(targetUrl, address);
  return isShown ? attempt : others;
}
