import { Injectable } from '@nestjs/common';
import { BackgroundTasks, Database, prepared, statement } from '#libs/runtime';
import { PendingDays } from '../pending-days.js';
import { countLosses } from '../../statistics/delivery-results.js';
import { joinDeliveryByKey } from '../../partitions/row-lookups.js';
import { daysAtOnce, type Span, within } from '../../partitions/partition-days.js';
import { OFF_REASON } from '../../subscriptions/webhook-flow.js';

/** Even while cancelling millions, leaves half of the time for deliveries. */
const OPTIONS = { everyMs: 500, share: 0.5 };
const RUN_MS = 500;
const BATCH = 1_000;
/** How many subscriptions one run covers. The next run continues after them. */
const CANCELLED_AT_ONCE = 200;

/**
 * Subscriptions whose cancelling began more than a minute ago. It does not end earlier because an event
 * that was being accepted during the switch-off may commit a little later.
 */
const MAY_END = `w.cancelling AND greatest(w.updated_at, w.deleted_at) < now() - interval '1 minute'`;

/** The next subscriptions that may have outdated deliveries. */
export const NEXT_CANCELLING = prepared<{ after: string }, { id: string; mayEnd: boolean }>(
  'canceller.next',
  `
SELECT id, ${MAY_END} AS "mayEnd" FROM webhooks w WHERE cancelling AND id > @after::bigint
ORDER BY id LIMIT ${CANCELLED_AT_ONCE}`,
);

/** How many days {@link cancelOutdated} and {@link findOutdated} may cover. */
const DAYS_CANCELLED = daysAtOnce('deliveries', 'deliveries', 'deliveries');

/** Whether neither a worker nor the queue has leased the delivery. */
const IS_FREE_TO_CHANGE = '(claimed_until IS NULL OR claimed_until <= now())';

/**
 * Marks outdated deliveries as cancelled. Leased ones are left for a later run, so that an attempt in
 * flight can end and be recorded.
 */
export function cancelOutdated(span: Span) {
  return statement<{ webhookIds: string[]; limit: number }, { webhookId: string }>(`
WITH off AS (
  SELECT id, generation, ${OFF_REASON} AS reason
  FROM webhooks w WHERE id = ANY (@webhookIds::bigint[]) AND cancelling
),
outdated AS (
  SELECT d.id, off.generation, off.reason FROM off CROSS JOIN LATERAL (
    SELECT id FROM deliveries
    WHERE webhook_id = off.id AND state = 'pending' AND generation < off.generation
      AND ${IS_FREE_TO_CHANGE} AND ${within('id', span)}
    -- The order of the index on pending rows, so that the planner prefers no other index.
    ORDER BY next_attempt_at LIMIT @limit::integer
  ) d
  LIMIT @limit::integer
),
-- Checked again once locked: it may have been leased, or redelivered under the present generation.
locked AS MATERIALIZED (
  SELECT d.id, o.reason FROM outdated o
  ${joinDeliveryByKey('o.id', { lock: 'FOR UPDATE SKIP LOCKED', span })}
  WHERE d.state = 'pending' AND d.generation < o.generation AND ${IS_FREE_TO_CHANGE}
),
cancelled AS (
  UPDATE deliveries d
  SET state = 'cancelled', reason = l.reason, completed_at = now(), claimed_until = NULL
  FROM locked l WHERE d.id = l.id AND ${within('d.id', span)}
  RETURNING d.webhook_id, d.reason
),
lost AS (${countLosses('cancelled')}
)
SELECT webhook_id AS "webhookId" FROM cancelled`);
}

/** Subscriptions that still have outdated deliveries. */
export function findOutdated(span: Span) {
  return statement<{ webhookIds: string[] }, { id: string }>(`
SELECT w.id FROM webhooks w CROSS JOIN LATERAL (
  SELECT FROM deliveries
  WHERE webhook_id = w.id AND state = 'pending' AND generation < w.generation
    AND ${within('id', span)}
  ORDER BY next_attempt_at LIMIT 1
) outdated
WHERE w.id = ANY (@webhookIds::bigint[])`);
}

/** Ends the cancelling of subscriptions without outdated deliveries. */
export const END_CANCELLING = prepared<{ webhookIds: string[] }>(
  'canceller.end',
  `
UPDATE webhooks w SET cancelling = false
WHERE w.id = ANY (@webhookIds::bigint[]) AND ${MAY_END}`,
);

/**
 * Marks the deliveries of switched-off and deleted subscriptions as cancelled. Runs in every worker, in
 * the background: nothing waits for it, whatever the number of rows.
 */
@Injectable()
export class DeliveryCanceller {
  /** The subscription after which the next look begins. */
  private after = '0';

  constructor(
    tasks: BackgroundTasks,
    private readonly database: Database,
    private readonly pendingDays: PendingDays,
  ) {
    tasks.add('cancelling', OPTIONS, () => this.run());
  }

  private async run(): Promise<void> {
    const cancelling = await this.database.run(NEXT_CANCELLING, { after: this.after });
    const isFull = cancelling.length === CANCELLED_AT_ONCE;
    this.after = (isFull ? cancelling.at(-1)?.id : undefined) ?? '0';
    if (cancelling.length === 0) return;
    const spans = await this.pendingDays.spans(DAYS_CANCELLED);
    const end = performance.now() + RUN_MS;
    const webhookIds = cancelling.map(({ id }) => id);
    for (const span of spans) await this.cancel(webhookIds, span, end);
    const asked = cancelling.filter(({ mayEnd }) => mayEnd).map(({ id }) => id);
    if (asked.length > 0) await this.endCancelling(asked, spans);
  }

  private async cancel(webhookIds: string[], span: Span, end: number): Promise<void> {
    let cancelled: unknown[];
    do {
      if (performance.now() > end) return;
      cancelled = await this.database.run(cancelOutdated(span), { webhookIds, limit: BATCH });
    } while (cancelled.length === BATCH);
  }

  /**
   * Deliveries that became pending after the days were read have the present generation, because their
   * subscription was disabled long before.
   */
  private async endCancelling(asked: readonly string[], spans: readonly Span[]): Promise<void> {
    const done = new Set(asked);
    for (const span of spans) {
      const left = await this.database.run(findOutdated(span), { webhookIds: [...done] });
      for (const { id } of left) done.delete(id);
    }
    await this.database.run(END_CANCELLING, { webhookIds: [...done] });
  }
}
