import { type Found, inSlices, MAX_SCANNED_ROWS, type Page, scanJudged } from '#libs/kernel';
import { type Run, statement, withoutNulls } from '#libs/runtime';
import { findMissed, MISSED_DAYS } from '../deliveries/missed-events.statements.js';
import {
  earliestMissed,
  isJudgedByData,
  isMissedBy,
  type JudgedEvent,
  type MissingSubscription,
} from '../event-kinds/domain/matching.js';
import { Filter } from '../event-kinds/domain/filter.js';
import {
  dayAt,
  dayOf,
  daysOf,
  leastIdAt,
  oldestFirst,
  type Span,
} from '../partitions/partition-days.js';

type SubscriptionRow = Omit<MissingSubscription, 'filter'> & { filter: string | null };

export const FIND_SUBSCRIPTION = statement<{ webhookId: string }, SubscriptionRow>(`
SELECT id, account_id AS "accountId", application_id AS "applicationId", event, resource, filter, accounts,
  created_at AS "createdAt"
FROM webhooks WHERE id = @webhookId AND deleted_at IS NULL`);

/** A subscription, and what it may have missed: events behind one and before a time. */
interface MissedRange {
  webhookId: string;
  after: string;
  until: Date;
}

/** Finds the next events that a subscription has missed and that can be sent to it, oldest first. */
export async function findNextMissed(
  run: Run,
  { webhookId, after: asked, until }: MissedRange,
  limit: number,
): Promise<Found<{ id: string }>> {
  const [found] = await run(FIND_SUBSCRIPTION, { webhookId });
  if (!found) return { rows: [] };
  const filter = found.filter === null ? null : new Filter(found.filter);
  const subscription: MissingSubscription = { ...found, filter };
  const earliest = leastIdAt(earliestMissed(subscription).getTime());
  const after = asked > earliest ? asked : earliest;
  const oldest = (await daysOf(run, 'events')).at(-1) ?? 0;
  const range = { first: Math.max(dayOf(after), oldest), last: dayAt(until) };
  const data = isJudgedByData(subscription);
  const { accountId, applicationId, event, resource } = subscription;
  const scan = (span: Span, page: Page) =>
    run(findMissed(span, { data }), {
      ...{ missedBy: webhookId, accountId, event, resources: resource },
      applicationId: applicationId ?? undefined,
      ...{ after: page.after ?? after, until: until.toISOString(), limit: page.limit },
    });
  return scanJudged({ limit }, oldestFirst(range, MISSED_DAYS), scan, async ({ id, ...row }) => {
    const judged = isMissedBy(subscription, withoutNulls<JudgedEvent>(row));
    return (await inSlices(accountId, judged)) ? { id } : undefined;
  });
}

/** How many events a subscription has missed that can be sent to it. */
export async function countMissed(run: Run, range: MissedRange): Promise<number> {
  let count = 0;
  for (let after: string | undefined = range.after; after !== undefined;) {
    const found: Found<{ id: string }> = await findNextMissed(
      run,
      { ...range, after },
      MAX_SCANNED_ROWS,
    );
    count += found.rows.length;
    const isFull = found.rows.length === MAX_SCANNED_ROWS;
    after = found.stoppedAt ?? (isFull ? found.rows.at(-1)!.id : undefined);
  }
  return count;
}
