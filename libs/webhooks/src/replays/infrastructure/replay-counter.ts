import { BusyError, FairSemaphore } from '#libs/kernel';
import type { TypeOrmTransactions } from '#libs/runtime';
import { dayAt } from '../../partitions/partition-days.js';
import {
  LEFT_OUT_REASONS,
  leaveOut,
  type LeftOut,
  type ReplayCount,
  type ReplayFilter,
} from '../domain/replay.js';
import { countMissed } from '../missed-events.js';
import {
  BOUNDS_OF_RANGE,
  type CountedSubscription,
  DELETED_SUBSCRIPTIONS,
  SUBSCRIPTIONS,
  SUBSCRIPTIONS_AT_ONCE,
} from './replay.statements.js';
import { countReplayed } from '../replayed-deliveries.js';

/** Counting may read millions of rows. The limits keep one account from using all connections. */
const COUNTS = { atOnce: 2, atOnceOfOne: 1, waitMs: 2_000 };

/** What a replay would send, if it were requested now. */
interface Counted extends Pick<ReplayCount, 'deliveries' | 'leftOutFor'> {
  until: Date;
  /** Where the range begins, as an id. */
  after: string;
  /** Enabled subscriptions with deliveries to send, or named by the filter. */
  subscriptions: (CountedSubscription & { deliveries: number })[];
}

/** Counts what replays would send. Shares its capacity fairly by account. */
export class ReplayCounter {
  private readonly counts = new FairSemaphore(
    COUNTS,
    () => new BusyError('Too many replays are being counted now.'),
  );

  constructor(private readonly transactions: TypeOrmTransactions) {}

  count(accountId: string, filter: ReplayFilter): Promise<Counted> {
    return this.counts.run(() => this.countAll(accountId, filter), accountId);
  }

  private async countAll(accountId: string, filter: ReplayFilter): Promise<Counted> {
    const { peek, query } = this.transactions;
    const { webhookId, missed, since, states, event, applicationId, status } = filter;
    const [bounds] = await query(BOUNDS_OF_RANGE, {
      since: since.toISOString(),
      until: filter.until?.toISOString(),
    });
    if (!bounds) throw new Error('a SELECT without FROM has a row');
    const { until, after } = bounds;
    const days = { first: dayAt(since), last: dayAt(until) };
    const asked = { states, event, applicationId, status, recoveredSince: undefined };
    const values = { ...asked, until: until.toISOString(), after };
    const counted: Counted = { until, after, subscriptions: [], deliveries: 0, leftOutFor: {} };
    const { leftOutFor } = counted;
    for await (const page of pagesOf((last) =>
      peek(SUBSCRIPTIONS, { accountId, webhookId, after: last }),
    )) {
      const replayed = missed ? undefined : await countReplayed(peek, page, values, days);
      for (const subscription of page) {
        const { id, enabled } = subscription;
        const deliveries = replayed
          ? (replayed.get(id)?.deliveries ?? 0)
          : await countMissed(peek, { webhookId: id, after, until });
        addTo(leftOutFor, replayed?.get(id)?.leftOut);
        if (!enabled) {
          leaveOut(leftOutFor, 'off', deliveries);
        } else if (deliveries > 0 || webhookId !== undefined) {
          counted.subscriptions.push({ ...subscription, deliveries });
          counted.deliveries += deliveries;
        }
      }
    }
    if (webhookId !== undefined) return counted;
    for await (const page of pagesOf((last) =>
      peek(DELETED_SUBSCRIPTIONS, { accountId, since: since.toISOString(), after: last }),
    )) {
      for (const { deliveries, leftOut } of (
        await countReplayed(peek, page, values, days)
      ).values()) {
        addTo(leftOutFor, leftOut);
        leaveOut(leftOutFor, 'deleted', deliveries);
      }
    }
    return counted;
  }
}

function addTo(total: LeftOut, more: LeftOut = {}): void {
  for (const reason of LEFT_OUT_REASONS) leaveOut(total, reason, more[reason] ?? 0);
}

/** Pages of subscriptions. @param read the page after an id */
async function* pagesOf<Subscription extends { id: string }>(
  read: (after: string) => Promise<Subscription[]>,
): AsyncGenerator<Subscription[]> {
  for (let after = '-1'; ;) {
    const page = await read(after);
    if (page.length > 0) yield page;
    if (page.length < SUBSCRIPTIONS_AT_ONCE) return;
    after = page.at(-1)!.id;
  }
}
