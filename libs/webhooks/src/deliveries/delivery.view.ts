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
} from './domain/delivery.js';
import { namesAddress } from '../subscriptions/domain/target-url.js';
import { FAILING_DAYS } from '../event-kinds/domain/event-kinds.js';
import { eventKind, resourceOrAll } from '../event-kinds/choices.schema.js';

const { optional } = schema;

/** The meaning of each state. The type ensures that none is missing. */
const STATES: Record<DeliveryState, string> = {
  pending: 'in flight, or waiting for its next attempt',
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
  reset: 'the connection was closed',
  timeout: 'there was no answer in time',
  tls: 'the certificate or the handshake failed',
  blocked: 'the address or the port may not be called',
  protocol: 'the answer was not valid HTTP',
};

const ATTEMPT_DETAILS: Record<AttemptDetail, string> = {
  expired: 'the certificate has expired, or is not valid yet',
  name: 'the certificate or the server is for another name',
  untrusted:
    'no trusted authority issued the certificate, or a certificate of its chain is missing',
  client_certificate: 'the target requires a client certificate, and none is sent',
  protocol: 'there is no common TLS version or cipher, or the target aborted the handshake',
  other: 'something else failed in TLS',
  proxy: 'the proxy of the installation could not reach the target, or refused to',
};

export const DeliveryStateSchema = schema.named(
  'DeliveryState',
  schema.meanings('The state of a delivery.', STATES, 'exhausted'),
);

/** Most attempts that are shown with their delivery. */
export const LOGGED = 100;

const OUTCOME = {
  at: schema.time('When it began.'),
  durationMs: schema.integer('The time until the response headers or the failure, in ms.', 123),
  status: optional(schema.integer("The status of the target's response, if there was one.", 410)),
  error: optional(schema.meanings('Why there was no response.', ATTEMPT_ERRORS, 'timeout')),
  detail: optional(
    schema.meanings(
      'What failed, if `error` is `tls` or a proxy refused the connection.',
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
  eventId: schema.uuid('The event that it delivers.', '019a0b1c-2d3c-7a10-9c77-04d6f1e2b388'),
  webhookId: schema.numericId('The subscription that it delivers to.', '4711'),
  event: eventKind('The kind of the event.'),
  resource: resourceOrAll('What the event is about:'),
  applicationId: optional(
    schema.numericId('The application of the event, if it has one.', '5080983'),
  ),
  producerId: optional(
    schema.text("The event's key from its producer, if it has one.", 'cdr-8c1f3a'),
  ),
  targetUrl: schema.text(
    'The present target of the subscription; user information is shown as `***`.',
    'https://hooks.example.com/switchhook',
  ),
  state: DeliveryStateSchema,
  reason: optional(schema.meanings('Why it ended without success.', REASONS, 'gone')),
  attempts: schema.integer('How many attempts are recorded.', 1),
  lastAttempt: optional(
    schema.use(LastAttemptSchema, { description: 'How the last attempt ended.' }),
  ),
  nextAttemptAt: optional(
    schema.time(
      'When the next attempt is due, while the delivery is pending, not paused, and not in flight. If the time has ' +
        'passed, it waits for a limit of its subscription or for a free slot.',
    ),
  ),
  waitsFor: optional(
    schema.choice(
      'What it waits for besides its target, its schedule and its subscription. `hold`: our own network reaches no ' +
        'target. It is sent when that ends, and uses up no attempt.',
      ['hold'],
    ),
  ),
  createdAt: schema.time('When the event was accepted.'),
  completedAt: optional(schema.time('When it finished.')),
  test: schema.flag('Whether it is a test.', false),
  notification: computed(
    optional(
      schema.anyObject(
        'The body that the target gets, with the present `name` and `payload` of the subscription; only with ' +
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
      'The requested URL, normalized; user information is shown as `***`.',
      'https://hooks.example.com/switchhook',
    ),
    headers: {
      type: 'object',
      description:
        "Its headers, except those of the connection and `Accept-Encoding: identity`. Values of the subscription's own headers are shown as `***`.",
      additionalProperties: { type: 'string' },
      examples: [{ 'webhook-id': '019a0b1c-2d3e-7f40-8a51-b26c73d84e95' }],
    },
  }),
);

const PhasesSchema = schema.named(
  'AttemptPhases',
  schema.object({
    queued: ms('From the acceptance of the event until the call; only for the first attempt.'),
    dns: ms('Resolving the host name.'),
    connect: ms('Opening the connection.'),
    tls: ms('The TLS handshake.'),
    firstByte: ms('From sending the request until the response headers.'),
    body: ms('Reading the response body.'),
  }),
);

/** An attempt in the form that answers contain. */
export const AttemptView = viewOf<Attempt>()('Attempt', {
  number: schema.integer('The first attempt is 1.', 1),
  at: OUTCOME.at,
  durationMs: OUTCOME.durationMs,
  request: optional(
    schema.use(RequestSchema, {
      description:
        'The request. Its body contains the event, which `GET /v1/events/{eventId}` shows.',
    }),
  ),
  phases: optional(
    schema.use(PhasesSchema, {
      description:
        'How long each phase took, in ms. A reused connection has no phases for opening it.',
    }),
  ),
  status: OUTCOME.status,
  error: OUTCOME.error,
  detail: OUTCOME.detail,
  address: optional(
    schema.text(
      'The IP address that was called; absent if a host name resolved to one that is not public.',
      '203.0.113.7',
    ),
  ),
  responseHeaders: optional({
    type: 'object',
    description:
      'The response headers: a string each, or an array of strings if the target sent several.',
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
    viewer.role === 'platform' ||
    isPublicAddress(address) ||
    namesAddress(targetUrl, address);
  return isShown ? attempt : others;
}
