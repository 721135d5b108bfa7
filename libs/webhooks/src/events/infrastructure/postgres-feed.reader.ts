import { Injectable } from '@nestjs/common';
import { EVERY_ACCOUNT, type Found, type Page, scanPage, type Scope } from '#libs/kernel';
import { TypeOrmTransactions, withoutNulls } from '#libs/runtime';
import {
  DAY_MS,
  dayOf,
  leastIdAt,
  oldestFirst,
  type Span,
} from '../../partitions/partition-days.js';
import type { EventWithData } from '../domain/event.js';
import { type FeedFilter, FeedReader, type Horizon, type Waiting } from '../domain/feed.js';
import { FEED_DAYS, FIND_FIRST_DAY, findAnyNews, findNews, readFeed } from './feed.statements.js';

/** The days of the first statement of a page: most followers are close to the end. */
const DAYS_AT_FIRST = 2;

/** Reads the feed from PostgreSQL. */
@Injectable()
export class PostgresFeedReader extends FeedReader {
  constructor(private readonly transactions: TypeOrmTransactions) {
    super();
  }

  override async read(
    scope: Scope,
    filter: FeedFilter,
    { after, limit: most }: Page & { after: string },
    end: Horizon,
  ): Promise<Found<EventWithData>> {
    const { event, resource, applicationId, producerId, contains } = filter;
    const list = { isOwned: scope !== EVERY_ACCOUNT, searches: contains !== undefined };
    const found = await scanPage(most, spansBetween(after, end), (span, limit) =>
      this.transactions.query(readFeed(span, list), {
        ...{ accountId: scope, after, end, limit, event, resource, applicationId, producerId },
        ...(contains !== undefined && { contains }),
      }),
    );
    return { ...found, rows: found.rows.map((row) => withoutNulls<EventWithData>(row)) };
  }

  override async haveNews(waiting: readonly Waiting[], end: Horizon): Promise<boolean[]> {
    const first = (scopes: readonly Waiting[]) =>
      scopes.map(({ after }) => after).reduce((one, other) => (one < other ? one : other), end);
    const owned = waiting.filter(({ scope }) => scope !== EVERY_ACCOUNT);
    const others = waiting.filter(({ scope }) => scope === EVERY_ACCOUNT);
    const told = new Set<Waiting>();
    for (const span of spansBetween(first(owned), end)) {
      if (owned.length === 0) break;
      const accountIds = owned.map(({ scope }) => scope);
      const afters = owned.map(({ after }) => after);
      const rows = await this.transactions.query(findNews(span), { accountIds, afters, end });
      for (const { ord } of rows) told.add(owned[ord - 1]!);
    }
    const after = first(others);
    for (const span of spansBetween(after, end)) {
      if (others.length === 0) break;
      const [any] = await this.transactions.query(findAnyNews(span), { after, end });
      if (any) for (const one of others) told.add(one);
    }
    return waiting.map((one) => told.has(one));
  }

  override async oldest(end: Horizon): Promise<string> {
    const today = dayOf(end);
    const [row] = await this.transactions.query(FIND_FIRST_DAY, { today });
    return leastIdAt((row?.day ?? today) * DAY_MS);
  }

  override cursorAt(time: Date): string {
    return leastIdAt(time.getTime());
  }
}

/** The days of the ids between two cursors, in parts that a statement may cover, oldest first. */
function spansBetween(after: string, end: string): Span[] {
  const [first, last] = [dayOf(after), dayOf(end)];
  if (after >= end) return [];
  const next = first + DAYS_AT_FIRST;
  return [
    { first, last: Math.min(next - 1, last) },
    ...oldestFirst({ first: next, last }, FEED_DAYS),
  ];
}
