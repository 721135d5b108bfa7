import { GOES_AT_ONCE } from './webhook-flow.js';

/**
 * Accepts a batch of events in one statement.
 *
 * $1…$7 arrays: event, resource, application, account, producer's key, occurred at, data
 * $8    whether deliveries may go onto the queue at once
 * $9    lease in ms
 * $10   array: the span that each is accepted in; NULL: none
 *
 * A row for each event, or for each of its deliveries that was claimed for the queue.
 *
 * - `matched` reads the subscriptions as they are: there is no cache to be stale.
 * - Keys are inserted in key order, so two batches never wait for each other in a circle; an event
 *   is stored only if its key was new. A key of a concurrent batch makes us wait for its commit.
 * - Everything is made at one now(), so the ids of an event and of its deliveries share a prefix.
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
  SELECT *, CASE
    WHEN application_id IS NOT NULL AND application_account IS NULL THEN 'unknown_application'
    WHEN account_id IS NOT NULL AND named_account IS NULL THEN 'unknown_account'
    WHEN application_account <> named_account THEN 'accounts_differ'
  END AS refusal
  FROM given
),
valid AS MATERIALIZED (
  SELECT new_uuid(now(), ord) AS id, ord, event, resource, application_id, producer_id, data,
    traceparent,
    coalesce(application_account, named_account) AS account_id,
    coalesce(occurred_at, now()) AS occurred_at
  FROM judged WHERE refusal IS NULL
),
matched AS MATERIALIZED (
  SELECT v.id AS event_id, v.account_id, v.event, w.id AS webhook_id, w.generation,
    $8::boolean AND ${GOES_AT_ONCE} AS at_once
  FROM valid v
  CROSS JOIN LATERAL (
    SELECT * FROM webhooks
    WHERE account_id = v.account_id AND application_id IS NULL AND deleted_at IS NULL
    UNION ALL
    SELECT * FROM webhooks
    WHERE application_id = v.application_id AND deleted_at IS NULL
  ) w
  WHERE w.enabled AND w.event = v.event
    AND (w.resource = 'all' OR v.resource = ANY (string_to_array(w.resource, ',')))
),
counted AS MATERIALIZED (
  SELECT event_id, count(*)::integer AS deliveries FROM matched GROUP BY event_id
),
new_keys AS (
  INSERT INTO event_keys (account_id, event, producer_id, event_id, deliveries)
  SELECT v.account_id, v.event, v.producer_id, v.id, coalesce(c.deliveries, 0)
  FROM valid v LEFT JOIN counted c ON c.event_id = v.id
  WHERE v.producer_id IS NOT NULL
  ORDER BY v.producer_id, v.account_id, v.event, v.ord
  ON CONFLICT DO NOTHING
  RETURNING event_id
),
fresh AS MATERIALIZED (
  SELECT v.* FROM valid v
  WHERE v.producer_id IS NULL OR v.id IN (SELECT event_id FROM new_keys)
),
stored AS (
  INSERT INTO events (id, account_id, application_id, event, resource, producer_id, occurred_at,
    created_at, traceparent, data)
  SELECT id, account_id, application_id, event, resource, producer_id, occurred_at, now(),
    traceparent, data
  FROM fresh
),
made AS (
  INSERT INTO deliveries (id, event_id, webhook_id, account_id, event, generation,
    next_attempt_at, claimed_until, created_at)
  SELECT new_uuid(now(), cardinality($1::text[]) + row_number() OVER ()), m.event_id, m.webhook_id,
    m.account_id, m.event, m.generation, now(),
    CASE WHEN m.at_once THEN now() + make_interval(secs => $9::float8 / 1000) END, now()
  FROM matched m JOIN fresh f ON f.id = m.event_id
  RETURNING id, event_id, webhook_id, claimed_until IS NOT NULL AS claimed
)
SELECT j.ord::integer AS ord, j.refusal, v.id AS event_id, v.account_id, f.id IS NOT NULL AS fresh,
  coalesce(c.deliveries, 0) AS deliveries, m.id AS delivery_id, m.webhook_id
FROM judged j
LEFT JOIN valid v ON v.ord = j.ord
LEFT JOIN fresh f ON f.ord = j.ord
LEFT JOIN counted c ON c.event_id = v.id
LEFT JOIN made m ON m.event_id = v.id AND m.claimed
ORDER BY j.ord`,
};

/** The events that keys stand for: a statement of its own, to see what a concurrent one committed. */
export const FIND_KEYS = {
  name: 'events.keys',
  text: `
SELECT k.account_id, k.event, k.producer_id, k.event_id, k.deliveries
FROM unnest($1::bigint[], $2::text[], $3::text[]) AS g(account_id, event, producer_id)
JOIN event_keys k USING (account_id, event, producer_id)`,
};

export const FIND_EVENT = {
  name: 'events.find',
  text: `
SELECT id, account_id, application_id, event, resource, producer_id, test, occurred_at, created_at,
  data
FROM events WHERE id = $1 AND ($2::bigint IS NULL OR account_id = $2)`,
};

/**
 * $1 account, $2 after, $3 limit, $4 event, $5 resource, $6 application, $7 since, $8 until. A test
 * is nothing that happened on the platform, so it is not listed. Without a name, as a plan for any
 * limit and any filter sorts all events of the account.
 */
const LISTED = `
SELECT id, account_id, application_id, event, resource, producer_id, test, occurred_at, created_at
FROM events
WHERE ($1::bigint IS NULL OR account_id = $1)
  AND ($2::uuid IS NULL OR id < $2)
  AND ($4::text IS NULL OR event = $4)
  AND ($5::text IS NULL OR resource = $5)
  AND ($6::bigint IS NULL OR application_id = $6)
  AND ($7::timestamptz IS NULL OR (created_at >= $7 AND id >= least_uuid($7)))
  AND ($8::timestamptz IS NULL OR (created_at < $8 AND id < least_uuid($8 + interval '1 ms')))
  AND NOT test`;

const NEWEST_FIRST = 'ORDER BY id DESC LIMIT $3';

export const LIST_EVENTS = { text: `${LISTED} ${NEWEST_FIRST}` };

/** $9 the producer's key, which its own index finds. */
export const LIST_EVENTS_OF_KEY = {
  text: `${LISTED} AND id IN (
    SELECT event_id FROM event_keys
    WHERE producer_id = $9 AND ($1::bigint IS NULL OR account_id = $1)
  ) ${NEWEST_FIRST}`,
};
