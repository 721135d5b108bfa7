import { LOOKED_AT, type LookedAt } from '#libs/kernel';
import { prepared, statement } from '#libs/runtime';
import { daysAtOnce, type Span, within } from '../../deliveries/infrastructure/partition-walk.js';
import type { EventKind, Resource } from '../../subscriptions/domain/event-kinds.js';
import { IS_FREE } from '../../subscriptions/infrastructure/webhook-flow.js';
import type { Refusal } from '../domain/event.js';

/**
 * Deliveries of one subscription that a statement puts onto the queue: as many as a worker has places
 * for. With more, what is accepted for others would wait behind them; the rest is claimed from PostgreSQL.
 */
const MOST_AT_ONCE = 20;

/** Reported events as arrays, a column each. */
interface ReportedEvents {
  events: string[];
  resources: string[];
  applicationIds: (string | undefined)[];
  accountIds: (string | undefined)[];
  producerIds: (string | undefined)[];
  occurredAt: (string | undefined)[];
  data: string[];
  /** The spans that they are accepted in; undefined where there is no tracing. */
  traceparents: (string | undefined)[] | undefined;
  /** Whether deliveries may go onto the queue. */
  hasRoom: boolean;
  leaseMs: number;
}

export interface EventResultRow {
  /** Its place in the batch, from 1 on. */
  ord: number;
  refusal: Refusal | null;
  event_id: string;
  account_id: string;
  fresh: boolean;
  deliveries: number;
}

export interface ClaimedDeliveryRow {
  ord: null;
  delivery_id: string;
  webhook_id: string;
}

/**
 * Accepts a batch of events in one statement: a row for each event, and one for each delivery that was
 * claimed for the queue.
 *
 * Everything is made at one now(), so the ids of an event and of its deliveries share a prefix. Nothing
 * is joined to itself: PostgreSQL expects a row or ten of each step, and would compare all events of a
 * batch with all.
 */
export const ACCEPT_EVENTS = prepared<ReportedEvents, EventResultRow | ClaimedDeliveryRow>(
  'events.accept',
  `
WITH
-- The batch, with the accounts that its events name.
given AS MATERIALIZED (
  SELECT g.*, a.user_id AS application_account, u.id AS named_account
  FROM unnest(@events::text[], @resources::text[], @applicationIds::bigint[],
      @accountIds::bigint[], @producerIds::text[], @occurredAt::timestamptz[], @data::text[],
      @traceparents::text[])
    WITH ORDINALITY
    AS g(event, resource, application_id, account_id, producer_id, occurred_at, data, traceparent, ord)
  LEFT JOIN applications a ON a.id = g.application_id
  LEFT JOIN users u ON u.id = g.account_id
),
-- Whose each is, or why it is refused.
judged AS MATERIALIZED (
  SELECT new_uuid(now(), ord) AS id, ord, event, resource, application_id, producer_id, data,
    traceparent,
    coalesce(application_account, named_account) AS account_id,
    coalesce(occurred_at, now()) AS occurred_at,
    CASE
      WHEN application_id IS NOT NULL AND application_account IS NULL THEN 'unknown_application'
      WHEN account_id IS NOT NULL AND named_account IS NULL THEN 'unknown_account'
      WHEN application_account <> named_account THEN 'accounts_differ'
    END AS refusal
  FROM given
),
-- Reads the subscriptions as they are: there is no cache to be stale.
matched AS MATERIALIZED (
  SELECT j.*, m.webhooks, m.generations, m.are_free
  FROM judged j CROSS JOIN LATERAL (
    SELECT coalesce(array_agg(w.id), '{}') AS webhooks, array_agg(w.generation) AS generations,
      array_agg(@hasRoom::boolean AND ${IS_FREE}) AS are_free
    FROM (
      SELECT * FROM webhooks
      WHERE account_id = j.account_id AND application_id IS NULL AND deleted_at IS NULL
      UNION ALL
      SELECT * FROM webhooks
      WHERE application_id = j.application_id AND deleted_at IS NULL
    ) w
    WHERE j.refusal IS NULL AND w.enabled AND w.event = j.event
      AND (w.resource = 'all' OR j.resource = ANY (string_to_array(w.resource, ',')))
  ) m
),
-- In key order, so two batches never wait for each other in a circle. A key of a concurrent batch
-- makes us wait for its commit.
new_keys AS (
  INSERT INTO event_keys (account_id, event, producer_id, event_id, deliveries)
  SELECT account_id, event, producer_id, id, cardinality(webhooks)
  FROM matched
  WHERE refusal IS NULL AND producer_id IS NOT NULL
  ORDER BY producer_id, account_id, event, ord
  ON CONFLICT DO NOTHING
  RETURNING event_id
),
-- An event is stored only if its key was new.
decided AS MATERIALIZED (
  SELECT *, refusal IS NULL
    AND (producer_id IS NULL OR id IN (SELECT event_id FROM new_keys)) AS fresh
  FROM matched
),
stored AS (
  INSERT INTO events (id, account_id, application_id, event, resource, producer_id, occurred_at,
    created_at, traceparent, data)
  SELECT id, account_id, application_id, event, resource, producer_id, occurred_at, now(),
    traceparent, data
  FROM decided WHERE fresh
),
-- A delivery for each match. The first of a subscription go onto the queue, if it is free.
fanned AS MATERIALIZED (
  SELECT d.id AS event_id, d.account_id, d.event, m.webhook_id, m.generation, m.is_free,
    m.is_free AND row_number() OVER (PARTITION BY m.webhook_id) <= ${MOST_AT_ONCE} AS at_once
  FROM decided d
  CROSS JOIN LATERAL unnest(d.webhooks, d.generations, d.are_free) m(webhook_id, generation, is_free)
  WHERE d.fresh
),
-- Where others are left over, later events wait behind them in PostgreSQL.
crowded AS (
  UPDATE webhooks SET backlog = true WHERE id = ANY (ARRAY(
    SELECT id FROM webhooks
    WHERE id = ANY (ARRAY(SELECT webhook_id FROM fanned WHERE is_free AND NOT at_once))
    FOR NO KEY UPDATE SKIP LOCKED
  ))
),
-- What goes onto the queue is leased to it: a lost job is due when its lease ends.
made AS (
  INSERT INTO deliveries (id, event_id, webhook_id, account_id, event, generation,
    next_attempt_at, claimed_until, created_at)
  SELECT new_uuid(now(), cardinality(@events::text[]) + row_number() OVER ()), f.event_id,
    f.webhook_id, f.account_id, f.event, f.generation, coalesce(l.ends, now()), l.ends, now()
  FROM fanned f
  CROSS JOIN LATERAL (
    SELECT CASE WHEN f.at_once THEN now() + make_interval(secs => @leaseMs::float8 / 1000) END AS ends
  ) l
  RETURNING id, webhook_id, claimed_until IS NOT NULL AS claimed
)
SELECT ord::integer AS ord, refusal, id AS event_id, account_id, fresh,
  cardinality(webhooks) AS deliveries, NULL::uuid AS delivery_id, NULL::bigint AS webhook_id
FROM decided
UNION ALL
SELECT NULL, NULL, NULL, NULL, NULL, NULL, id, webhook_id FROM made WHERE claimed`,
);

export interface KeyRow {
  account_id: string;
  event: string;
  producer_id: string;
  event_id: string;
  deliveries: number;
}

/** The events that keys stand for: a statement of its own, to see what a concurrent one committed. */
export const FIND_KEYS = prepared<
  { accountIds: string[]; events: string[]; producerIds: string[] },
  KeyRow
>(
  'events.keys',
  `
SELECT k.account_id, k.event, k.producer_id, k.event_id, k.deliveries
FROM unnest(@accountIds::bigint[], @events::text[], @producerIds::text[])
  AS g(account_id, event, producer_id)
JOIN event_keys k USING (account_id, event, producer_id)`,
);

export interface EventHeadRow {
  id: string;
  account_id: string;
  application_id: string | null;
  event: EventKind;
  resource: Resource;
  producer_id: string | null;
  test: boolean;
  occurred_at: Date;
  created_at: Date;
}

/** Not prepared, as a plan that is kept opens the partitions of all days. */
export const FIND_EVENT = statement<
  { id: string; accountId: string | undefined },
  EventHeadRow & { data: string }
>(`
SELECT id, account_id, application_id, event, resource, producer_id, test, occurred_at, created_at,
  data
FROM events WHERE id = @id AND (@accountId::bigint IS NULL OR account_id = @accountId)`);

/** How many days {@link listEvents} may be about. */
export const EVENT_DAYS_LISTED = daysAtOnce('events');

interface EventsPage {
  accountId: string | undefined;
  after: string | undefined;
  limit: number;
  event: string | undefined;
  resource: string | undefined;
  applicationId: string | undefined;
  since: string | undefined;
  until: string | undefined;
  /** These alone may be listed; undefined: any. */
  ids: string[] | undefined;
}

/**
 * A test is nothing that happened on the platform, so it is not listed. Not prepared, as a plan for
 * any limit and any filter sorts all events of the account.
 */
export function listEvents(span: Span) {
  return statement<EventsPage, EventHeadRow & LookedAt>(`
SELECT * FROM (
  SELECT id, account_id, application_id, event, resource, producer_id, test, occurred_at, created_at,
    row_number() OVER (ORDER BY id DESC)::integer AS place,
    NOT test
      AND (@event::text IS NULL OR event = @event)
      AND (@resource::text IS NULL OR resource = @resource)
      AND coalesce(@applicationId::bigint IS NULL OR application_id = @applicationId, false)
      AS matches
  FROM events
  WHERE ${within('id', span)}
    AND (@accountId::bigint IS NULL OR account_id = @accountId)
    AND (@after::uuid IS NULL OR id < @after)
    AND (@since::timestamptz IS NULL OR (created_at >= @since AND id >= least_uuid(@since)))
    AND (@until::timestamptz IS NULL
      OR (created_at < @until AND id < least_uuid(@until + interval '1 ms')))
    AND (@ids::uuid[] IS NULL OR id = ANY (@ids))
  ORDER BY id DESC LIMIT ${LOOKED_AT}
) AS looked_at
WHERE matches OR place = ${LOOKED_AT}
ORDER BY id DESC LIMIT @limit`);
}

/** The events of a producer's key, the newest first. */
export const EVENTS_OF_KEY = prepared<
  { producerId: string; accountId: string | undefined },
  { id: string }
>(
  'events.of-key',
  `
SELECT event_id AS id FROM event_keys
WHERE producer_id = @producerId AND (@accountId::bigint IS NULL OR account_id = @accountId)
ORDER BY event_id DESC`,
);
