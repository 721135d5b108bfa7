import { Inject, Injectable } from '@nestjs/common';
import { type Found, scanPage, type Page } from '#libs/kernel';
import { CONFIG, type Config, Tracing, TypeOrmTransactions } from '#libs/runtime';
import type { Attempt, Delivery, DeliveryState } from '../domain/delivery.js';
import { DeliveryQueue } from '../../queue/domain/delivery-queue.js';
import { type DeliveryFilter, DeliveryStore, type TestEvent } from '../domain/delivery-store.js';
import type { Webhook } from '../../subscriptions/domain/webhook.js';
import { boundsOf } from '../../partitions/delivery-by-key.js';
import { PUBLISH_SPAN } from '../../queue/infrastructure/delivery-queues.js';
import {
  CANCEL_REQUESTED,
  CREATE_DELIVERY,
  CREATE_TEST,
  LIST_ATTEMPTS,
  REDELIVER,
  type StartedRow,
} from './delivery.statements.js';
import { attemptOf } from './sent-text.js';
import { daysListed, firstDayOf, newestFirst, type Span } from '../../partitions/partition-walk.js';
import {
  areFew,
  DAYS_LISTED,
  deliveryOf,
  FIND_DELIVERY,
  isDeliveryState,
  listDeliveries,
} from './shown-delivery.statements.js';

/** The delivery log in PostgreSQL. */
@Injectable()
export class PostgresDeliveryStore extends DeliveryStore {
  private readonly timeoutMs: number;

  constructor(
    private readonly transactions: TypeOrmTransactions,
    private readonly queue: DeliveryQueue,
    private readonly tracing: Tracing,
    @Inject(CONFIG) config: Config,
  ) {
    super();
    this.timeoutMs = config.DELIVERY_TIMEOUT_MS;
  }

  async list(filter: DeliveryFilter, page: Page): Promise<Found<Delivery>> {
    const { accountId, webhook, applicationId, state, event, status } = filter;
    if (state !== undefined && !isDeliveryState(state)) return { rows: [] };
    const { first, last } = daysListed(filter, page.after);
    const spans = newestFirst(this.transactions.query, 'deliveries', DAYS_LISTED, {
      first: Math.max(first, webhook?.createdAt ? firstDayOf(webhook.createdAt) : 0),
      last,
    });
    const values = { accountId, webhookId: webhook?.id, applicationId, event, status };
    const owner = webhook ? 'webhook' : accountId === undefined ? undefined : 'account';
    const found = await scanPage(page.limit, spans, async (span, limit) => {
      const indexed =
        webhook && state && (await this.areFew(webhook, state, span)) ? state : undefined;
      return this.transactions.query(listDeliveries(indexed, span, owner), {
        ...values,
        after: page.after,
        limit,
        state,
        since: filter.since?.toISOString(),
        until: filter.until?.toISOString(),
      });
    });
    return { ...found, rows: found.rows.map(deliveryOf) };
  }

  private async areFew(
    { id: webhookId }: Pick<Webhook, 'id'>,
    state: DeliveryState,
    span: Span,
  ): Promise<boolean> {
    const statement = areFew(state, span);
    if (!statement) return true;
    const [row] = await this.transactions.query(statement, { webhookId });
    return row?.few === true;
  }

  async find(id: string, accountId: string | undefined): Promise<Delivery | undefined> {
    const values = { id, accountId, ...boundsOf(id) };
    const [row] = await this.transactions.query(FIND_DELIVERY, values);
    return row && deliveryOf(row);
  }

  async attemptsOf(id: string, after: number, limit: number): Promise<Attempt[]> {
    const rows = await this.transactions.query(LIST_ATTEMPTS, { id, after, limit });
    return rows.map(attemptOf);
  }

  async create(eventId: string, webhookId: string): Promise<string | undefined> {
    const values = { eventId, webhookId, ...boundsOf(eventId), ...this.queueing() };
    const rows = await this.transactions.query(CREATE_DELIVERY, values);
    this.enqueue(rows);
    return rows[0]?.id;
  }

  async redeliver(id: string): Promise<boolean> {
    const rows = await this.transactions.query(REDELIVER, { id, ...this.queueing() });
    this.enqueue(rows);
    return rows.length > 0;
  }

  async cancel(id: string): Promise<boolean> {
    return (await this.transactions.query(CANCEL_REQUESTED, { id })).length > 0;
  }

  async createTest(test: TestEvent): Promise<string | undefined> {
    return this.tracing.span(PUBLISH_SPAN, async () => {
      const rows = await this.transactions.query(CREATE_TEST, {
        webhookId: test.webhookId,
        resource: test.resource,
        data: test.data,
        ...this.queueing({ immediate: true }),
        traceparent: this.tracing.traceparent,
      });
      this.enqueue(rows);
      return rows[0]?.id;
    });
  }

  private queueing(of = { immediate: false }): { hasRoom: boolean; timeoutMs: number } {
    return { hasRoom: this.queue.hasRoom(of), timeoutMs: this.timeoutMs };
  }

  private enqueue(rows: readonly StartedRow[]): void {
    const queued = rows.filter((row) => row.queued);
    // Before the commit, a worker would not find the delivery, which would then wait for its lease to end.
    this.transactions.afterCommit(() => void this.queue.add(queued));
  }
}
