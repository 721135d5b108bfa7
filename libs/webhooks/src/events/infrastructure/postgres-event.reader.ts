import { Injectable } from '@nestjs/common';
import { type Found, type LookedAt, lookUpTo, type Page } from '#libs/kernel';
import { Database } from '#libs/runtime';
import type { Delivery } from '../../deliveries/domain/delivery.js';
import type { EventFilter, EventHead, StoredEvent } from '../domain/event.js';
import type { EventKind, Resource } from '../../subscriptions/domain/event-kinds.js';
import { EventReader } from '../domain/event-reader.js';
import { boundsOf } from '../../deliveries/infrastructure/delivery-by-key.js';
import {
  type DeliveryRow,
  deliveryOf,
  DELIVERIES_OF_EVENT,
} from '../../deliveries/infrastructure/delivery.statements.js';
import { EVENT_DAYS_LISTED, EVENTS_OF_KEY, FIND_EVENT, listEvents } from './event.statements.js';
import { byDay } from '../../deliveries/infrastructure/partition-days.js';
import {
  daysListed,
  newestFirst,
  spansOf,
} from '../../deliveries/infrastructure/partition-walk.js';

/** Reads events from PostgreSQL. */
@Injectable()
export class PostgresEventReader extends EventReader {
  constructor(private readonly database: Database) {
    super();
  }

  async find(id: string, accountId: string | undefined): Promise<StoredEvent | undefined> {
    const [row] = await this.database.query<EventRow>(FIND_EVENT, [id, accountId ?? null]);
    return row && { ...eventOf(row), data: row.data };
  }

  async list(
    accountId: string | undefined,
    filter: EventFilter,
    page: Page,
  ): Promise<Found<EventHead>> {
    const ids = await this.idsOf(filter.producerId, accountId);
    const spans = ids
      ? spansOf([...byDay(ids, (id) => id).keys()], EVENT_DAYS_LISTED)
      : newestFirst(this.database, 'events', EVENT_DAYS_LISTED, daysListed(filter, page.after));
    const found = await lookUpTo(page.limit, spans, (span, limit) =>
      this.database.query<EventHeadRow & LookedAt>(listEvents(span), [
        accountId ?? null,
        page.after ?? null,
        limit,
        filter.event ?? null,
        filter.resource ?? null,
        filter.applicationId ?? null,
        filter.since?.toISOString() ?? null,
        filter.until?.toISOString() ?? null,
        ids ?? null,
      ]),
    );
    return { ...found, rows: found.rows.map(eventOf) };
  }

  /** The events of a producer's key, the newest first; undefined where any will do. */
  private async idsOf(
    producerId: string | undefined,
    accountId: string | undefined,
  ): Promise<string[] | undefined> {
    if (producerId === undefined) return undefined;
    const values = [producerId, accountId ?? null];
    const rows = await this.database.query<{ id: string }>(EVENTS_OF_KEY, values);
    return rows.map(({ id }) => id);
  }

  async deliveriesOf(eventId: string): Promise<Delivery[]> {
    const values = [eventId, ...boundsOf([eventId])];
    return (await this.database.query<DeliveryRow>(DELIVERIES_OF_EVENT, values)).map(deliveryOf);
  }
}

interface EventHeadRow {
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

interface EventRow extends EventHeadRow {
  data: string;
}

function eventOf(row: EventHeadRow): EventHead {
  return {
    id: row.id,
    accountId: row.account_id,
    ...(row.application_id !== null && { applicationId: row.application_id }),
    event: row.event,
    resource: row.resource,
    ...(row.producer_id !== null && { producerId: row.producer_id }),
    occurredAt: row.occurred_at,
    createdAt: row.created_at,
    test: row.test,
  };
}
