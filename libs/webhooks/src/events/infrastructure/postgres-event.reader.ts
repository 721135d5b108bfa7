import { Injectable } from '@nestjs/common';
import {
  EVERY_ACCOUNT,
  type Found,
  inSlices,
  type Page,
  scanJudged,
  scanPage,
  type Scope,
} from '#libs/kernel';
import { TypeOrmTransactions, withoutNulls } from '#libs/runtime';
import {
  type EventFilter,
  type EventHead,
  EventReader,
  type StoredEvent,
} from '../domain/event.js';
import {
  earliestMissed,
  isJudgedByData,
  isMissedBy,
  type MissingSubscription,
} from '../../event-kinds/domain/matching.js';
import { boundsOf } from '../../partitions/row-lookups.js';
import { FIND_DELIVERY_IDS, MISSED_DAYS } from '../../deliveries/missed-events.statements.js';
import { eventIdsOf } from '../../deliveries/listed-events.js';
import { EVENT_DAYS_LISTED, FIND_EVENT, listEvents, LOCK_EVENT } from './event.statements.js';
import {
  byDay,
  daysListed,
  newestFirst,
  type Span,
  spansOf,
} from '../../partitions/partition-days.js';

/** Reads events from PostgreSQL. */
@Injectable()
export class PostgresEventReader extends EventReader {
  constructor(private readonly transactions: TypeOrmTransactions) {
    super();
  }

  async find(
    id: string,
    scope: Scope,
    { lock } = { lock: false },
  ): Promise<StoredEvent | undefined> {
    const statement = lock ? LOCK_EVENT : FIND_EVENT;
    const [row] = await this.transactions.query(statement, { id, accountId: scope });
    return row && withoutNulls<StoredEvent>(row);
  }

  async list(scope: Scope, filter: EventFilter, page: Page): Promise<Found<EventHead>> {
    const { contains, missedBy, unmatched, withData = false } = filter;
    const asked = missedBy ? narrowed(filter, missedBy) : filter;
    if (!asked) return { rows: [] };
    const ids = await eventIdsOf(this.transactions.query, scope, filter);
    const days = missedBy ? MISSED_DAYS : EVENT_DAYS_LISTED;
    const spans = ids
      ? spansOf([...byDay(ids, (id) => id).keys()], days)
      : newestFirst(this.transactions.query, 'events', days, daysListed(asked, page.after));
    const isOwned = scope !== EVERY_ACCOUNT;
    const list = {
      isOwned,
      byIndex: unmatched === true && isOwned,
      searches: contains !== undefined,
      covered: asked.resources !== undefined,
      missed: missedBy !== undefined,
      data: withData || (missedBy !== undefined && isJudgedByData(missedBy)),
    };
    const scan = (span: Span, { limit, after }: Page) =>
      this.transactions.query(listEvents(span, list), {
        accountId: scope,
        after,
        limit,
        event: asked.event,
        resource: asked.resource,
        applicationId: asked.applicationId,
        unmatched,
        since: asked.since?.toISOString(),
        until: asked.until?.toISOString(),
        ids,
        ...(contains !== undefined && { contains }),
        ...(asked.resources !== undefined && { resources: asked.resources }),
        ...(missedBy && { missedBy: missedBy.id }),
      });
    if (missedBy) {
      return scanJudged(page, spans, scan, async (row) => {
        const event = withoutNulls<EventHead>(row);
        if (!(await inSlices(missedBy.accountId, isMissedBy(missedBy, event)))) return undefined;
        return withData ? event : withoutData(event);
      });
    }
    const found = await scanPage(page.limit, spans, (span, limit) =>
      scan(span, { ...page, limit }),
    );
    return { ...found, rows: found.rows.map((row) => withoutNulls<EventHead>(row)) };
  }

  async deliveryIdsOf(
    eventId: string,
    webhookIds: readonly string[],
  ): Promise<Map<string, string>> {
    const values = { eventId, ...boundsOf(eventId), webhookIds: [...webhookIds] };
    const rows = await this.transactions.query(FIND_DELIVERY_IDS, values);
    return new Map(rows.map(({ webhookId, deliveryId }) => [webhookId, deliveryId]));
  }
}

function withoutData({ data: _, ...event }: EventHead): EventHead {
  return event;
}

/** The filter with what the subscription requires of events; undefined if nothing meets both. */
function narrowed(filter: EventFilter, missedBy: MissingSubscription): EventFilter | undefined {
  const { applicationId, event, resource: resources } = missedBy;
  const contradicts = (asked: string | undefined, required: string | null) =>
    asked !== undefined && required !== null && asked !== required;
  if (contradicts(filter.event, event) || contradicts(filter.applicationId, applicationId)) {
    return undefined;
  }
  const earliest = earliestMissed(missedBy);
  const { since = earliest } = filter;
  return {
    ...filter,
    event,
    resources,
    ...(applicationId !== null && { applicationId }),
    since: since > earliest ? since : earliest,
  };
}
