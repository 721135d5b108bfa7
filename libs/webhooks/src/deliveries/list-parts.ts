import { type Page, type Scope, timeOfId } from '#libs/kernel';
import type { Run } from '#libs/runtime';
import {
  daysListed,
  dayOf,
  firstDayOf,
  newestFirst,
  type Span,
} from '../partitions/partition-days.js';
import { boundsOf } from '../partitions/row-lookups.js';
import type { DeliveryFilter } from './domain/delivery.js';
import { DAYS_LISTED, EVENTS_OF_KEY } from './infrastructure/listed-deliveries.statements.js';

/** What one statement of a list looks at. */
interface ListPart {
  span: Span;
  after: string | undefined;
  since: Date | undefined;
  eventIds?: string[];
}

async function* withSpans(
  spans: AsyncIterable<Span>,
  bounds: Pick<ListPart, 'after' | 'since'>,
): AsyncGenerator<ListPart> {
  for await (const span of spans) yield { span, ...bounds };
}

/** How many events with the same key, of several accounts, a page looks at. */
const MAX_PARTS = 50;

/**
 * The places of the deliveries of events: the ids of an event's deliveries begin like its own, as do those of other events
 * that were accepted with it.
 * @param ids newest first
 */
function partsOfEvents(
  ids: readonly string[],
  { after, since }: Pick<ListPart, 'after' | 'since'>,
): (ListPart & { least: string })[] {
  const parts = new Map<string, ListPart & { least: string; eventIds: string[] }>();
  for (const id of ids) {
    const { least, greatest } = boundsOf(id);
    if (after !== undefined && after <= least) continue;
    const known = parts.get(least);
    if (known) {
      known.eventIds.push(id);
      continue;
    }
    const made = timeOfId(id);
    parts.set(least, {
      span: { first: dayOf(id), last: dayOf(id) },
      after: after !== undefined && after < greatest ? after : greatest,
      since: since && since > made ? since : made,
      eventIds: [id],
      least,
    });
  }
  return [...parts.values()];
}

/** The events that a list is about, newest first; undefined for all of them. */
export async function eventIdsOf(
  run: Run,
  scope: Scope,
  { eventId, producerId }: Pick<DeliveryFilter, 'eventId' | 'producerId'>,
): Promise<string[] | undefined> {
  if (eventId !== undefined) return [eventId];
  if (producerId === undefined) return undefined;
  const rows = await run(EVENTS_OF_KEY, { producerId, accountId: scope });
  return rows.map(({ id }) => id);
}

/** What a page looks at. `end`: where it ends, if not at the oldest delivery. */
export async function partsOf(
  run: Run,
  scope: Scope,
  filter: DeliveryFilter,
  { after }: Page,
): Promise<{ parts: AsyncIterable<ListPart> | ListPart[]; end?: string | undefined }> {
  const { since, webhook } = filter;
  const eventIds = await eventIdsOf(run, scope, filter);
  if (!eventIds) {
    const { first, last } = daysListed(filter, after);
    const spans = newestFirst(run, 'deliveries', DAYS_LISTED, {
      first: Math.max(first, webhook?.createdAt ? firstDayOf(webhook.createdAt) : 0),
      last,
    });
    return { parts: withSpans(spans, { after, since }) };
  }
  const parts = partsOfEvents(eventIds, { after, since });
  const end = parts.length > MAX_PARTS ? parts[MAX_PARTS - 1]!.least : undefined;
  return { parts: parts.slice(0, MAX_PARTS), end };
}
