import { prepared, statement } from '#libs/runtime';
import type { AttemptRow } from './sent-text.js';
import type { QueuedDelivery } from '../../queue/domain/delivery-queue.js';
import { leaseOf } from '../../queue/infrastructure/delivery-queues.js';
import { IS_FREE } from '../../subscriptions/infrastructure/webhook-flow.js';
import { MAX_ADDED } from '../domain/delivery-store.js';
import { deliveryTo, IS_LEASED, type MadeTogether } from './shown-delivery.statements.js';

/** `after`: the number of the previous attempt. A lease's number is never lower than its attempt's. */
export const ATTEMPT_COLUMNS = `number, at, duration_ms AS "durationMs", status, error, address,
  response_headers::json AS "responseHeaders", response_body AS "responseBody", truncated, sent`;

export const LIST_ATTEMPTS = statement<{ id: string; after: number; limit: number }, AttemptRow>(`
SELECT delivery_id AS "deliveryId", ${ATTEMPT_COLUMNS}
FROM attempts WHERE delivery_id = @id AND take >= @after AND number > @after
ORDER BY take LIMIT @limit`);

/** Whether a delivery may go onto the queue at once, and the timeout of subscriptions without one, for its lease. */
interface Queueing {
  hasRoom: boolean;
  timeoutMs: number;
}

/** A delivery that was created or restarted, and whether it may go onto the queue. */
export type StartedRow = QueuedDelivery & { queued: boolean };

/** The end of the lease with which a delivery to subscription `w` goes onto the queue at once, if it may. */
const queueLease = (may: string): string => `LATERAL (
  SELECT CASE WHEN @hasRoom::boolean AND ${may} THEN now() + ${leaseOf('w.retry')} END AS ends
) lease`;

const NUMBER_OF_LEASE = '(lease.ends IS NOT NULL)::integer';

/** The counters of ids that `ACCEPT_EVENTS` creates are far below: new_uuid() has 20 bits for them. */
const LAST_COUNTER = 0xfffff;

/**
 * The id shares the prefix of the event's, like those that are created with it, and comes after them and after
 * others that were added earlier. The caller has locked the event, so a second one for the same subscription
 * is not created.
 */
export const CREATE_DELIVERY = statement<
  Queueing & MadeTogether & { eventId: string; webhookId: string },
  StartedRow
>(`
WITH counted AS (
  UPDATE events SET added = added + 1, unmatched = false WHERE id = @eventId
  RETURNING id, account_id, event, added
),
made AS (
  INSERT INTO deliveries (id, event_id, webhook_id, account_id, event, generation, next_attempt_at,
    claimed_until, takes, created_at)
  SELECT (left(e.id::text, 19) || '8' || to_hex(${LAST_COUNTER - MAX_ADDED} + least(e.added, ${MAX_ADDED}))
      || right(md5(e.id::text || w.id), 10))::uuid, e.id, w.id, e.account_id,
    e.event, w.generation, coalesce(lease.ends, now()), lease.ends, ${NUMBER_OF_LEASE},
    -- Not now(): others that have waited for the event's lock began their transactions in another order.
    clock_timestamp()
  FROM counted e
    JOIN webhooks w ON w.id = @webhookId AND w.account_id = e.account_id AND w.enabled
      AND w.deleted_at IS NULL
    CROSS JOIN ${queueLease(IS_FREE)}
  WHERE (SELECT count(*) FROM (${deliveryTo('@webhookId::bigint')}) d) = 0
  RETURNING id, takes AS lease, webhook_id AS "webhookId", immediate,
    claimed_until IS NOT NULL AS queued
)
SELECT * FROM made`);

/** Restarts the schedule under the subscription's present generation. */
export const REDELIVER = statement<Queueing & { id: string }, StartedRow>(`
UPDATE deliveries d
SET state = 'pending', reason = NULL, completed_at = NULL, schedule_base = d.attempts,
  immediate = false, replayed = false, generation = w.generation,
  next_attempt_at = coalesce(lease.ends, now()), claimed_until = lease.ends,
  takes = d.takes + ${NUMBER_OF_LEASE}
FROM webhooks w CROSS JOIN ${queueLease(IS_FREE)}
WHERE d.id = @id AND w.id = d.webhook_id AND w.enabled AND w.deleted_at IS NULL
  AND (d.state <> 'pending' OR d.generation < w.generation)
  -- A cancelled delivery may still have an attempt in flight.
  AND NOT ${IS_LEASED}
RETURNING d.id, d.takes AS lease, d.webhook_id AS "webhookId", d.immediate,
  d.claimed_until IS NOT NULL AS queued`);

/** A leased delivery keeps its lease, which prevents a redelivery while an attempt may be in flight. */
export const CANCEL_REQUESTED = statement<{ id: string }, { id: string }>(`
UPDATE deliveries d
SET state = 'cancelled', reason = 'requested', completed_at = now()
FROM webhooks w
WHERE d.id = @id AND w.id = d.webhook_id AND d.state = 'pending' AND d.generation >= w.generation
RETURNING d.id`);

interface TestValues extends Queueing {
  webhookId: string;
  resource: string;
  data: string;
  /** The span in which the test is created. */
  traceparent: string | undefined;
}

export const CREATE_TEST = prepared<TestValues, StartedRow>(
  'deliveries.create-test',
  `
WITH w AS (
  SELECT * FROM webhooks WHERE id = @webhookId AND enabled AND deleted_at IS NULL
),
sample AS (
  INSERT INTO events (id, account_id, application_id, event, resource, test, occurred_at,
    created_at, traceparent, data)
  SELECT new_uuid(now(), 1), account_id, application_id, event, @resource, true, now(), now(),
    @traceparent, @data
  FROM w
  RETURNING id
)
INSERT INTO deliveries (id, event_id, webhook_id, account_id, event, generation, immediate,
  next_attempt_at, claimed_until, takes, created_at)
SELECT new_uuid(now(), 2), sample.id, w.id, w.account_id, w.event, w.generation, true,
  coalesce(lease.ends, now()), lease.ends, ${NUMBER_OF_LEASE}, now()
FROM w CROSS JOIN sample CROSS JOIN ${queueLease('true')}
RETURNING id, takes AS lease, webhook_id AS "webhookId", immediate,
  claimed_until IS NOT NULL AS queued`,
);
