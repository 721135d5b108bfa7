import { Injectable } from '@nestjs/common';
import { type Found, scanPage, type Page } from '#libs/kernel';
import { TypeOrmTransactions, withoutNulls } from '#libs/runtime';
import type { Delivery } from '../../deliveries/domain/delivery.js';
import {
  type EventFilter,
  type EventHead,
  EventReader,
  type StoredEvent,
} from '../domain/event.js';
import { boundsOf } from '../../partitions/row-lookups.js';
import {
  DELIVERIES_OF_EVENT,
  deliveryOf,
  WEBHOOKS_TOLD,
} from '../../deliveries/infrastructure/shown-delivery.statements.js';
import {
  EVENT_DAYS_LISTED,
  EVENTS_OF_KEY,
  FIND_EVENT,
  listEvents,
  LOCK_EVENT,
} from './event.statements.js';
import { byDay, daysListed, newestFirst, spansOf } from '../../partitions/partition-days.js';

/** Reads events from PostgreSQL. */
@Injectable()
export class PostgresEventReader extends EventReader {
  constructor(private readonly transactions: TypeOrmTransactions) {
    super();
  }

  async find(
    id: string,
    accountId: string | undefined,
    { lock } = { lock: false },
  ): Promise<StoredEvent | undefined> {
    const [row] = await this.transactions.query(lock ? LOCK_EVENT : FIND_EVENT, { id, accountId });
    return row && withoutNulls<StoredEvent>(row);
  }

  async list(
    accountId: string | undefined,
    filter: EventFilter,
    page: Page,
  ): Promise<Found<EventHead>> {
    const ids = await this.idsOf(filter.producerId, accountId);
    const spans = ids
      ? spansOf([...byDay(ids, (id) => id).keys()], EVENT_DAYS_LISTED)
      : newestFirst(
          this.transactions.query,
          'events',
          EVENT_DAYS_LISTED,
          daysListed(filter, page.after),
        );
    const isOwned = accountId !== undefined;
    const byIndex = filter.unmatched === true && isOwned;
    const found = await scanPage(page.limit, spans, (span, limit) =>
      this.transactions.query(listEvents(span, { isOwned, byIndex }), {
        accountId,
        after: page.after,
        limit,
        event: filter.event,
        resource: filter.resource,
        applicationId: filter.applicationId,
        unmatched: filter.unmatched,
        since: filter.since?.toISOString(),
        until: filter.until?.toISOString(),
        ids,
      }),
    );
    return { ...found, rows: found.rows.map(withoutNulls<EventHead>) };
  }

  /** The events with a producer's key, newest first; undefined without a key. */
  private async idsOf(
    producerId: string | undefined,
    accountId: string | undefined,
  ): Promise<string[] | undefined> {
    if (producerId === undefined) return undefined;
    const rows = await this.transactions.query(EVENTS_OF_KEY, { producerId, accountId });
    return rows.map(({ id }) => id);
  }

  async deliveriesOf(eventId: string, page: Page): Promise<Found<Delivery>> {
    const values = { eventId, ...boundsOf(eventId), after: page.after };
    const found = await scanPage(page.limit, [DELIVERIES_OF_EVENT], (statement, limit) =>
      this.transactions.query(statement, { ...values, limit }),
    );
    return { ...found, rows: found.rows.map(deliveryOf) };
  }

  async told(eventId: string, webhookIds: readonly string[]): Promise<Map<string, string>> {
    const values = { eventId, ...boundsOf(eventId), webhookIds: [...webhookIds] };
    const rows = await this.transactions.query(WEBHOOKS_TOLD, values);
    return new Map(rows.map(({ webhookId, deliveryId }) => [webhookId, deliveryId]));
  }
}
