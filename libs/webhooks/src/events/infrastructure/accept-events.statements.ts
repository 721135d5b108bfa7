import { prepared, rowsFrom } from '#libs/runtime';
import { fromMatching } from '../../event-kinds/domain/matching.js';
import { leaseOf } from '../../queue/leases.statements.js';
import { IS_FREE } from '../../subscriptions/webhook-flow.js';
import type { Refusal } from '../domain/event.js';
import { placedAt } from '../feed-functions.js';

/**
 * Most deliveries of one subscription that a statement puts onto the queue: about as many as a worker has
 * slots for. More would delay other subscriptions. Workers claim the rest from PostgreSQL.
 */
const MOST_AT_ONCE = 20;

/** The number of the lease with which a new delivery goes onto the queue. */
export const FIRST_LEASE = 1;

/** Reported events as arrays, one for each column. */
export interface ReportedEvents {
  events: string[];
  resources: string[];
  applicationIds: (string | undefined)[];
  accountIds: (string | undefined)[];
  producerIds: (string | undefined)[];
  occurredAt: (string | undefined)[];
  /** Or a `textArray` of them. */
  data: string[] | Buffer;
  /** The spans in which the events are accepted; undefined without tracing. */
  traceparents: (string | undefined)[] | undefined;
  /** Whether deliveries may go onto the queue. */
  hasRoom: boolean;
  /** Of subscriptions without a timeout of their own. */
  timeoutMs: number;
}

/** Reported events of which some have filters. */
interface FilteredEvents extends ReportedEvents {
  /** The positions at which the requests of the events begin, from 1. */
  starts: number[];
  /** The {@link verdictsOf} filters on each event; undefined if none is known. */
  verdicts: (string | undefined)[];
}

const COLUMNS = {
  events: 'text',
  resources: 'text',
  applicationIds: 'bigint',
  accountIds: 'bigint',
  producerIds: 'text',
  occurredAt: 'timestamptz',
  data: 'text',
  traceparents: 'text',
};

export interface EventResultRow {
  /** Position in the batch, starting at 1. */
  ord: number;
  refusal: Refusal | null;
  eventId: string;
  accountId: string;
  fresh: boolean;
  /** Whether it was not stored, because a filter was not judged. */
  held: boolean;
  deliveries: number;
}

export interface ClaimedDeliveryRow {
  ord: null;
  deliveryId: string;
  webhookId: string;
}

/** The verdicts of filters on the data of an event, by the ids of the filters. */
export function verdictsOf(ids: readonly string[], verdicts: readonly boolean[]): string {
  return ids.map((id, index) => `${verdicts[index] === true ? '=' : '!'}${id}`).join('');
}

/** Whether event `j` has the verdict `sign` of the filter of subscription `w`. */
const hasVerdict = (sign: '=' | '!') =>
  `strpos(coalesce(j.verdicts, ''), '${sign}' || w.filter_id) > 0`;

/** What of the statement depends on whether filters are judged. */
interface Judging {
  /** Columns of an event. */
  columns: string;
  /** Which of the matching subscriptions `w` get event `j`. */
  condition: string;
  /** Whether the filter of `w` was not judged. */
  isUnjudged: string;
  isHeld: string;
}

/** If any of the events has a filter, all are held. */
const UNFILTERED: Judging = {
  columns: '',
  condition: '',
  isUnjudged: 'w.filter_id IS NOT NULL',
  isHeld: 'EXISTS (SELECT FROM matched WHERE is_unjudged)',
};

/** If a filter of an event was not judged, those of its request and account are held, and so stay in their order. */
const FILTERED: Judging = {
  columns: `,
    width_bucket(ord::integer, @starts::integer[]) AS request, (@verdicts::text[])[ord::integer] AS verdicts`,
  condition: `
      AND (w.filter_id IS NULL OR NOT ${hasVerdict('!')})`,
  isUnjudged: `w.filter_id IS NOT NULL AND NOT ${hasVerdict('=')}`,
  isHeld: '(request, account_id) IN (SELECT request, account_id FROM matched WHERE is_unjudged)',
};

/**
 * Accepts a batch of events in one statement. Returns a row for each event, and one for each delivery
 * that was leased to the queue.
 *
 * All rows have the same time, so the ids of an event and its deliveries share a prefix. It is the one that keeps the order
 * of the feed (`feed_time`), while leases count from now(). There are no
 * self-joins: PostgreSQL expects one to ten rows from each step, and would compare every pair of events.
 */
const accepting = ({ columns, condition, isUnjudged, isHeld }: Judging) => `
WITH
accepted AS MATERIALIZED (SELECT feed_time() AS at),
-- The batch, with the accounts of its events.
given AS MATERIALIZED (
  SELECT *, (
      SELECT user_id FROM applications a
      WHERE id = g.application_id AND NOT EXISTS (SELECT FROM closings WHERE account_id = a.user_id)
    ) AS application_account,
    (SELECT id FROM users WHERE id = g.account_id AND status IN ('active', 'locked')) AS named_account
  FROM ${rowsFrom(COLUMNS)} WITH ORDINALITY
    AS g(event, resource, application_id, account_id, producer_id, occurred_at, data, traceparent, ord)
),
-- The owner of each event, or why it is refused.
judged AS MATERIALIZED (
  SELECT new_uuid(at, ord) AS id, at, ord, event, resource, application_id, producer_id, data, traceparent,
    coalesce(application_account, named_account) AS account_id,
    coalesce(occurred_at, at) AS occurred_at,
    CASE
      WHEN application_id IS NOT NULL AND application_account IS NULL THEN 'unknown_application'
      WHEN account_id IS NOT NULL AND named_account IS NULL THEN 'unknown_account'
      WHEN application_account <> named_account THEN 'accounts_differ'
    END AS refusal${columns}
  FROM given CROSS JOIN accepted
),
-- Reads the subscriptions directly; there is no cache that could be stale.
matched AS MATERIALIZED (
  SELECT j.*, m.webhooks, m.generations, m.retries, m.are_free, m.is_unjudged
  FROM judged j CROSS JOIN LATERAL (
    SELECT coalesce(array_agg(w.id), '{}') AS webhooks, array_agg(w.generation) AS generations,
      array_agg(w.retry) AS retries,
      array_agg(@hasRoom::boolean AND ${IS_FREE}) AS are_free,
      coalesce(bool_or(${isUnjudged}), false) AS is_unjudged
    ${fromMatching('j')}
      AND j.refusal IS NULL${condition}
  ) m
),
-- Inserts in key order, so that two batches cannot deadlock. Waits for the commit of a concurrent batch
-- with the same key.
new_keys AS (
  INSERT INTO event_keys (account_id, event, producer_id, event_id, deliveries)
  SELECT account_id, event, producer_id, id, cardinality(webhooks)
  FROM matched
  WHERE refusal IS NULL AND producer_id IS NOT NULL AND NOT ${isHeld}
  ORDER BY producer_id, account_id, event, ord
  ON CONFLICT DO NOTHING
  RETURNING event_id
),
-- Only events with a new key are stored.
decided AS MATERIALIZED (
  SELECT *, refusal IS NULL AND ${isHeld} AS held, refusal IS NULL AND NOT ${isHeld}
    AND (producer_id IS NULL OR id IN (SELECT event_id FROM new_keys)) AS fresh
  FROM matched
),
stored AS (
  INSERT INTO events (id, account_id, application_id, event, resource, producer_id, occurred_at,
    created_at, traceparent, data, unmatched)
  SELECT id, account_id, application_id, event, resource, producer_id, occurred_at, at,
    traceparent, data, cardinality(webhooks) = 0
  FROM decided WHERE fresh
),
-- One delivery for each match, in the order of the events. A subscription's first ones go onto the queue if it is free.
fanned AS MATERIALIZED (
  SELECT d.id AS event_id, d.at, d.account_id, d.event, m.webhook_id, m.generation, m.retry, m.is_free,
    m.is_free AND row_number() OVER (PARTITION BY m.webhook_id ORDER BY d.ord) <= ${MOST_AT_ONCE} AS at_once
  FROM decided d
  CROSS JOIN LATERAL unnest(d.webhooks, d.generations, d.retries, d.are_free)
    m(webhook_id, generation, retry, is_free)
  WHERE d.fresh
),
-- If some do not go onto the queue, later deliveries wait behind them in PostgreSQL.
crowded AS (
  UPDATE webhooks SET backlog = true WHERE id = ANY (ARRAY(
    SELECT id FROM webhooks
    WHERE id = ANY (ARRAY(SELECT webhook_id FROM fanned WHERE is_free AND NOT at_once))
    FOR NO KEY UPDATE SKIP LOCKED
  ))
),
-- Deliveries on the queue have a lease. If the job is lost, they are due when it ends.
made AS (
  INSERT INTO deliveries (id, event_id, webhook_id, account_id, event, generation,
    next_attempt_at, claimed_until, takes, created_at)
  SELECT new_uuid(f.at, cardinality(@events::text[]) + row_number() OVER ()), f.event_id,
    f.webhook_id, f.account_id, f.event, f.generation, coalesce(l.ends, l.placed), l.ends, f.at_once::integer, l.placed
  FROM fanned f
  CROSS JOIN LATERAL (
    SELECT CASE WHEN f.at_once THEN now() + ${leaseOf('f.retry')} END AS ends, ${placedAt('f.at')} AS placed
  ) l
  RETURNING id, webhook_id, takes
)
SELECT ord::integer AS ord, refusal, id AS "eventId", account_id AS "accountId", fresh, held,
  cardinality(webhooks) AS deliveries, NULL::uuid AS "deliveryId", NULL::bigint AS "webhookId"
FROM decided
UNION ALL
SELECT NULL, NULL, NULL, NULL, NULL, NULL, NULL, id, webhook_id FROM made WHERE takes = ${FIRST_LEASE}`;

/** Stores nothing if one of the events has a filter. Takes less time than {@link ACCEPT_FILTERED_EVENTS}. */
export const ACCEPT_EVENTS = prepared<ReportedEvents, EventResultRow | ClaimedDeliveryRow>(
  'events.accept',
  accepting(UNFILTERED),
);

/**
 * Verdicts on the events' data are given, by the ids of filters, so a verdict of a filter that has since been changed does
 * not count.
 */
export const ACCEPT_FILTERED_EVENTS = prepared<FilteredEvents, EventResultRow | ClaimedDeliveryRow>(
  'events.accept-filtered',
  accepting(FILTERED),
);

export interface KeyRow {
  accountId: string;
  event: string;
  producerId: string;
  eventId: string;
  deliveries: number;
}

/** Finds events by key. A separate statement, to see the commits of concurrent ones. */
export const FIND_KEYS = prepared<
  { accountIds: string[]; events: string[]; producerIds: string[] },
  KeyRow
>(
  'events.keys',
  `
SELECT k.account_id AS "accountId", k.event, k.producer_id AS "producerId", k.event_id AS "eventId",
  k.deliveries
FROM ${rowsFrom({ accountIds: 'bigint', events: 'text', producerIds: 'text' })}
  AS g(account_id, event, producer_id)
JOIN event_keys k USING (account_id, event, producer_id)`,
);

/** Finds the filters that events meet, by the account of each. */
export const FIND_FILTERS = prepared<
  {
    accountIds: string[];
    applicationIds: (string | undefined)[];
    events: string[];
    resources: string[];
  },
  { ord: number; id: string; text: string }
>(
  'events.filters',
  `
SELECT e.ord::integer AS ord, w.filter_id AS id, w.filter AS text
FROM ${rowsFrom({ accountIds: 'bigint', applicationIds: 'bigint', events: 'text', resources: 'text' })}
  WITH ORDINALITY AS e(account_id, application_id, event, resource, ord)
CROSS JOIN LATERAL (
  SELECT DISTINCT w.filter_id, w.filter ${fromMatching('e')} AND w.filter_id IS NOT NULL
) w
ORDER BY ord, id`,
);
