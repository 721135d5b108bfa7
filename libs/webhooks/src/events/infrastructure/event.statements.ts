import { LOOKED_AT } from '#libs/kernel';
import { daysAtOnce, type Span, within } from '../../deliveries/infrastructure/partition-walk.js';
import { IS_FREE } from '../../subscriptions/infrastructure/webhook-flow.js';

/**
 * Deliveries of one subscription that a statement puts onto the queue: as many as a worker has places
 * for. With more, what is accepted for others would wait behind them; the rest is claimed from PostgreSQL.
 */
const MOST_AT_ONCE = 20;

/**
 * Accepts a batch of events in one statement.
 *
 * $1…$7 arrays: event, resource, application, account, producer's key, occurred at, data
 * $8    whether deliveries may go onto the queue
 * $9    lease in ms
 * $10   array: the span that each is accepted in; NULL: none
 *
 * A row for each event, and one for each delivery that was claimed for the queue, without `ord`.
 *
 * - `matched` reads the subscriptions as they are: there is no cache to be stale.
 * - Keys are inserted in key order, so two batches never wait for each other in a circle; an event
 *   is stored only if its key was new. A key of a concurrent batch makes us wait for its commit.
 * - Everything is made at one now(), so the ids of an event and of its deliveries share a prefix.
 * - Nothing is joined to itself: PostgreSQL expects a row or ten of each step, and would compare all
 *   events of a batch with all.
 */
export const ACCEPT_EVENTS = {
  name: 'events.accept',
  text: `
WITH given AS MATERIALIZED (
  SELECT g.*, a.user_id AS application_account, u.id AS named_account
  FROM unnest($1::text[], $2::text[], $3::bigint[], $4::bigint[], $5::text[], $6::timestamptz[], $7::text[],
      $10::text[])
    WITH ORDINALITY
    AS g(event, resource, application_id, account_id, producer_id, occurred_at, data, traceparent, ord)
  LEFT JOIN applications a ON a.id = g.application_id
  LEFT JOIN users u ON u.id = g.account_id
),
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
matched AS MATERIALIZED (
  SELECT j.*, m.webhooks, m.generations, m.are_free
  FROM judged j CROSS JOIN LATERAL (
    SELECT coalesce(array_agg(w.id), '{}') AS webhooks, array_agg(w.generation) AS generations,
      array_agg($8::boolean AND ${IS_FREE}) AS are_free
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
new_keys AS (
  INSERT INTO event_keys (account_id, event, producer_id, event_id, deliveries)
  SELECT account_id, event, producer_id, id, cardinality(webhooks)
  FROM matched
  WHERE refusal IS NULL AND producer_id IS NOT NULL
  ORDER BY producer_id, account_id, event, ord
  ON CONFLICT DO NOTHING
  RETURNING event_id
),
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
fanned AS MATERIALIZED (
  SELECT d.id AS event_id, d.account_id, d.event, m.webhook_id, m.generation, m.is_free,
    m.is_free AND row_number() OVER (PARTITION BY m.webhook_id) <= ${MOST_AT_ONCE} AS at_once
  FROM decided d
  CROSS JOIN LATERAL unnest(d.webhooks, d.generations, d.are_free) m(webhook_id, generation, is_free)
  WHERE d.fresh
),
crowded AS (
  UPDATE webhooks SET backlog = true WHERE id = ANY (ARRAY(
    SELECT id FROM webhooks
    WHERE id = ANY (ARRAY(SELECT webhook_id FROM fanned WHERE is_free AND NOT at_once))
    FOR NO KEY UPDATE SKIP LOCKED
  ))
),
made AS (
  INSERT INTO deliveries (id, event_id, webhook_id, account_id, event, generation,
    next_attempt_at, claimed_until, created_at)
  SELECT new_uuid(now(), cardinality($1::text[]) + row_number() OVER ()), f.event_id, f.webhook_id,
    f.account_id, f.event, f.generation, coalesce(l.ends, now()), l.ends, now()
  FROM fanned f
  CROSS JOIN LATERAL (
    SELECT CASE WHEN f.at_once THEN now() + make_interval(secs => $9::float8 / 1000) END AS ends
  ) l
  RETURNING id, webhook_id, claimed_until IS NOT NULL AS claimed
)
SELECT ord::integer AS ord, refusal, id AS event_id, account_id, fresh,
  cardinality(webhooks) AS deliveries, NULL::uuid AS delivery_id, NULL::bigint AS webhook_id
FROM decided
UNION ALL
SELECT NULL, NULL, NULL, NULL, NULL, NULL, id, webhook_id FROM made WHERE claimed`,
};

/** The events that keys stand for: a statement of its own, to see what a concurrent one committed. */
export const FIND_KEYS = {
  name: 'events.keys',
  text: `
SELECT k.account_id, k.event, k.producer_id, k.event_id, k.deliveries
FROM unnest($1::bigint[], $2::text[], $3::text[]) AS g(account_id, event, producer_id)
JOIN event_keys k USING (account_id, event, producer_id)`,
};

/** Without a name, as a plan that is kept opens the partitions of all days. */
export const FIND_EVENT = {
  text: `
SELECT id, account_id, application_id, event, resource, producer_id, test, occurred_at, created_at,
  data
FROM events WHERE id = $1 AND ($2::bigint IS NULL OR account_id = $2)`,
};

/** How many days {@link listEvents} may be about. */
export const EVENT_DAYS_LISTED = daysAtOnce('events');

/**
 * $1 account, $2 after, $3 limit, $4 event, $5 resource, $6 application, $7 since, $8 until, $9 ids
 * that alone may be listed, or NULL. A test is nothing that happened on the platform, so it is not
 * listed. Without a name, as a plan for any limit and any filter sorts all events of the account.
 */
export function listEvents(span: Span): { text: string } {
  return {
    text: `
SELECT * FROM (
  SELECT id, account_id, application_id, event, resource, producer_id, test, occurred_at, created_at,
    row_number() OVER (ORDER BY id DESC)::integer AS place,
    NOT test
      AND ($4::text IS NULL OR event = $4)
      AND ($5::text IS NULL OR resource = $5)
      AND coalesce($6::bigint IS NULL OR application_id = $6, false) AS matches
  FROM events
  WHERE ${within('id', span)}
    AND ($1::bigint IS NULL OR account_id = $1)
    AND ($2::uuid IS NULL OR id < $2)
    AND ($7::timestamptz IS NULL OR (created_at >= $7 AND id >= least_uuid($7)))
    AND ($8::timestamptz IS NULL OR (created_at < $8 AND id < least_uuid($8 + interval '1 ms')))
    AND ($9::uuid[] IS NULL OR id = ANY ($9))
  ORDER BY id DESC LIMIT ${LOOKED_AT}
) AS looked_at
WHERE matches OR place = ${LOOKED_AT}
ORDER BY id DESC LIMIT $3`,
  };
}

/** $1 the producer's key, $2 account. The newest first. */
export const EVENTS_OF_KEY = {
  name: 'events.of-key',
  text: `
SELECT event_id AS id FROM event_keys
WHERE producer_id = $1 AND ($2::bigint IS NULL OR account_id = $2)
ORDER BY event_id DESC`,
};
