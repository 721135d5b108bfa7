import { Inject, Injectable } from '@nestjs/common';
import {
  CONFIG,
  type Config,
  prepared,
  statement,
  Tracing,
  TypeOrmTransactions,
} from '#libs/runtime';
import type { Found, Page, Scope } from '#libs/kernel';
import { DeliveryQueue, type QueuedDelivery } from '../../queue/domain/delivery-queue.js';
import { PUBLISH_SPAN } from '../../queue/delivery-queues.js';
import { leaseOf } from '../../queue/leases.statements.js';
import { IS_FREE } from '../../subscriptions/webhook-flow.js';
import {
  type Attempt,
  type Delivery,
  type DeliveryFilter,
  DeliveryStore,
  type TestEvent,
  type WantedDeliveries,
} from '../domain/delivery.js';
import { boundsOf, type MadeTogether } from '../../partitions/row-lookups.js';
import { inSpans } from '../../partitions/partition-days.js';
import { findPage } from './delivery-list.js';
import { deliveryOf, DAYS_FOUND, findDeliveries, IS_LEASED } from './shown-delivery.statements.js';
import { addedId, deliveryTo } from '../missed-events.statements.js';
import { attemptOf, LIST_ATTEMPTS } from '../attempts.statements.js';

/** Whether a delivery may go onto the queue now, and the timeout of subscriptions without one, for its lease. */
interface Queueing {
  hasRoom: boolean;
  timeoutMs: number;
}

/** A delivery that was created or restarted, and whether it may go onto the queue. */
export type StartedRow = QueuedDelivery & { queued: boolean };

/** @param leaseEnds null if it may not go onto the queue */
const returning = (leaseEnds = 'claimed_until'): string =>
  `RETURNING id, takes AS lease, webhook_id AS "webhookId", immediate, ${leaseEnds} IS NOT NULL AS queued`;

/** The end of the lease with which a delivery to subscription `w` goes onto the queue at once, if it may. */
const leaseEnds = (may: string): string =>
  `CASE WHEN @hasRoom::boolean AND ${may} THEN now() + ${leaseOf('w.retry')} END AS ends`;
const queueLease = (may: string): string => `LATERAL (SELECT ${leaseEnds(may)}) lease`;

const NUMBER_OF_LEASE = '(lease.ends IS NOT NULL)::integer';

/** The caller has locked the event, so a second one for the same subscription is not created. */
export const CREATE_DELIVERY = statement<
  Queueing & MadeTogether & { eventId: string; webhookId: string },
  StartedRow
>(`
WITH counted AS (
  UPDATE events SET added = added + 1, unmatched = false WHERE id = @eventId
  RETURNING id, account_id, event, added
)
INSERT INTO deliveries (id, event_id, webhook_id, account_id, event, generation, next_attempt_at,
  claimed_until, takes, created_at)
SELECT ${addedId('e.id', 'e.added', 'w.id')}, e.id, w.id, e.account_id,
  e.event, w.generation, coalesce(lease.ends, now()), lease.ends, ${NUMBER_OF_LEASE},
  -- Not now(): others that have waited for the event's lock began their transactions in another order.
  clock_timestamp()
FROM counted e
  JOIN webhooks w ON w.id = @webhookId AND w.account_id = e.account_id AND w.enabled
    AND w.deleted_at IS NULL
  CROSS JOIN ${queueLease(IS_FREE)}
WHERE (SELECT count(*) FROM (${deliveryTo('@webhookId::bigint')}) d) = 0
${returning()}`);

/** Restarts the schedule under the subscription's present generation. */
export const REDELIVER = statement<Queueing & { id: string }, StartedRow>(`
WITH lease AS MATERIALIZED (
  SELECT w.generation, w.ordered, now() AS at, ${leaseEnds(IS_FREE)}
  FROM deliveries d JOIN webhooks w ON w.id = d.webhook_id
  WHERE d.id = @id AND w.enabled AND w.deleted_at IS NULL
    AND (d.state <> 'pending' OR d.generation < w.generation) AND d.erased IS NULL
    -- A cancelled delivery may still have an attempt in flight.
    AND NOT ${IS_LEASED}
  FOR NO KEY UPDATE OF d
)
UPDATE deliveries d
SET state = 'pending', reason = NULL, completed_at = NULL, schedule_base = d.attempts,
  immediate = false, replayed = false, resumes_at = NULL, extra_attempts = NULL,
  generation = lease.generation,
  -- In an ordered subscription, it keeps its place, and so comes before later ones.
  next_attempt_at = CASE WHEN lease.ordered THEN d.created_at ELSE coalesce(lease.ends, lease.at) END,
  not_before = NULL, claimed_until = lease.ends,
  takes = d.takes + ${NUMBER_OF_LEASE}
FROM lease WHERE d.id = @id
${returning()}`);

/**
 * Leases a waiting delivery to the queue, and keeps the time of its next attempt for the schedule. One that is leased
 * only becomes immediate, so that its job is not dropped because its subscription is blocked. Whatever records the
 * outcome of that lease ends this, too.
 */
export const SEND_NOW = statement<Queueing & { id: string }, StartedRow>(`
WITH lease AS MATERIALIZED (
  SELECT w.ordered, ${IS_LEASED} AS is_leased, now() AS at, ${leaseEnds(`NOT ${IS_LEASED}`)}
  FROM deliveries d JOIN webhooks w ON w.id = d.webhook_id
  WHERE d.id = @id AND d.state = 'pending' AND w.enabled AND w.deleted_at IS NULL
    AND d.generation >= w.generation
  FOR NO KEY UPDATE OF d
)
UPDATE deliveries d
SET immediate = true,
  -- A test has no schedule that could go on.
  resumes_at = CASE WHEN d.immediate THEN d.resumes_at
    ELSE coalesce(d.resumes_at, greatest(d.next_attempt_at, d.not_before)) END,
  -- In an ordered subscription, it keeps its place, and those behind it wait.
  next_attempt_at = CASE WHEN lease.is_leased OR lease.ordered THEN d.next_attempt_at
    ELSE coalesce(lease.ends, lease.at) END,
  not_before = NULL,
  claimed_until = CASE WHEN lease.is_leased THEN d.claimed_until ELSE lease.ends END,
  takes = d.takes + ${NUMBER_OF_LEASE}
FROM lease WHERE d.id = @id
${returning('lease.ends')}`);

/** A leased delivery keeps its lease, which prevents a redelivery while an attempt may be in flight. */
export const CANCEL_REQUESTED = statement<{ id: string }, { id: string }>(`
UPDATE deliveries d
SET state = 'cancelled', reason = 'requested', completed_at = now()
FROM webhooks w
WHERE d.id = @id AND w.id = d.webhook_id AND d.state = 'pending' AND d.generation >= w.generation
RETURNING d.id`);

interface TestValues extends Queueing, TestEvent {
  /** The span in which the test is created. */
  traceparent: string | undefined;
}

export const CREATE_TEST = prepared<TestValues, StartedRow>(
  'deliveries.create-test',
  `
WITH w AS (
  SELECT * FROM webhooks WHERE id = @webhookId AND enabled AND deleted_at IS NULL
),
accepted AS MATERIALIZED (SELECT feed_time() AS at),
sample AS (
  INSERT INTO events (id, account_id, application_id, event, resource, test, occurred_at,
    created_at, traceparent, data)
  SELECT new_uuid(at, 1), account_id, application_id, event, @resource, true, at, at,
    @traceparent, @data
  FROM w CROSS JOIN accepted
  RETURNING id, created_at
)
INSERT INTO deliveries (id, event_id, webhook_id, account_id, event, generation, immediate,
  next_attempt_at, claimed_until, takes, created_at)
SELECT new_uuid(sample.created_at, 2), sample.id, w.id, w.account_id, w.event, w.generation, true,
  coalesce(lease.ends, now()), lease.ends, ${NUMBER_OF_LEASE}, sample.created_at
FROM w CROSS JOIN sample CROSS JOIN ${queueLease('true')}
${returning()}`,
);

/** The delivery log in PostgreSQL. */
@Injectable()
export class PostgresDeliveryStore extends DeliveryStore {
  constructor(
    private readonly transactions: TypeOrmTransactions,
    private readonly queue: DeliveryQueue,
    private readonly tracing: Tracing,
    @Inject(CONFIG) private readonly config: Config,
  ) {
    super();
  }

  list(scope: Scope, filter: DeliveryFilter, page: Page): Promise<Found<Delivery>> {
    return findPage(this.transactions.query, scope, filter, page);
  }

  async findAll(scope: Scope, wanted: WantedDeliveries): Promise<Delivery[]> {
    const { ids = [], eventIds = [] } = wanted;
    const events = new Set(eventIds);
    const found: Delivery[] = [];
    for (const [span, all] of inSpans([...ids, ...eventIds], DAYS_FOUND)) {
      const ofSpan = all.filter((id) => events.has(id));
      const bounds = ofSpan.map(boundsOf);
      const rows = await this.transactions.query(findDeliveries(span), {
        accountId: scope,
        ids: all.filter((id) => !events.has(id)),
        eventIds: ofSpan,
        least: bounds.map(({ least }) => least),
        greatest: bounds.map(({ greatest }) => greatest),
      });
      found.push(...rows.map(deliveryOf));
    }
    return found;
  }

  async attemptsOf(id: string, after: number, limit: number): Promise<Attempt[]> {
    const rows = await this.transactions.query(LIST_ATTEMPTS, { id, after, limit });
    return rows.map(attemptOf);
  }

  create(eventId: string, webhookId: string): Promise<string | undefined> {
    const values = { eventId, webhookId, ...boundsOf(eventId) };
    return this.start((queueing) =>
      this.transactions.query(CREATE_DELIVERY, { ...values, ...queueing }),
    );
  }

  async redeliver(id: string): Promise<boolean> {
    const started = await this.start((queueing) =>
      this.transactions.query(REDELIVER, { id, ...queueing }),
    );
    return started !== undefined;
  }

  async sendNow(id: string): Promise<boolean> {
    const started = await this.start(
      (queueing) => this.transactions.query(SEND_NOW, { id, ...queueing }),
      { immediate: true },
    );
    return started !== undefined;
  }

  async cancel(id: string): Promise<boolean> {
    return (await this.transactions.query(CANCEL_REQUESTED, { id })).length > 0;
  }

  createTest(test: TestEvent): Promise<string | undefined> {
    return this.tracing.span(PUBLISH_SPAN, () => {
      const { traceparent } = this.tracing;
      return this.start(
        (queueing) => this.transactions.query(CREATE_TEST, { ...test, traceparent, ...queueing }),
        { immediate: true },
      );
    });
  }

  /** @returns the id of the delivery that `run` has created or restarted */
  private async start(
    run: (queueing: Queueing) => Promise<StartedRow[]>,
    of = { immediate: false },
  ): Promise<string | undefined> {
    const timeoutMs = this.config.DELIVERY_TIMEOUT_MS;
    const [row] = await run({ hasRoom: this.queue.hasRoom(of), timeoutMs });
    // Before the commit, a worker would not find the delivery, which would then wait for its lease to end.
    if (row?.queued) this.transactions.afterCommit(() => void this.queue.add([row]));
    return row?.id;
  }
}
