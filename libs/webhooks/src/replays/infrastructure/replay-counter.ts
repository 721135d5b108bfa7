import { BusyError, FairSemaphore } from '#libs/kernel';
import type { TypeOrmTransactions } from '#libs/runtime';
import { dayAt } from '../../partitions/partition-days.js';
import type { ReplayCount, ReplayFilter } from '../domain/replay.js';
import { countMissed } from '../missed-events.js';
import {
  BOUNDS_OF_RANGE,
  type CountedSubscription,
  SUBSCRIPTIONS,
  SUBSCRIPTIONS_AT_ONCE,
} from './replay.statements.js';
import { countReplayed } from '../replayed-deliveries.js';

/** Counting may read millions of rows. The limits keep one account from using all connections. */
const COUNTS = { atOnce: 2, atOnceOfOne: 1, waitMs: 2_000 };

/** What a replay would send, if it were requested now. */
interface Counted extends Pick<ReplayCount, 'deliveries' | 'leftOut'> {
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
    const counted: Counted = { until, after, subscriptions: [], deliveries: 0, leftOut: 0 };
    for (
      let page: CountedSubscription[] | undefined;
      !page || page.length === SUBSCRIPTIONS_AT_ONCE;
    ) {
      page = await peek(SUBSCRIPTIONS, { accountId, webhookId, after: page?.at(-1)?.id ?? '-1' });
      const replayed = missed ? undefined : await countReplayed(peek, page, values, days);
      for (const subscription of page) {
        const { id, enabled } = subscription;
        const deliveries = replayed
          ? (replayed.get(id) ?? 0)
          : await countMissed(peek, { webhookId: id, after, until });
        if (!enabled) {
          counted.leftOut += deliveries;
        } else if (deliveries > 0 || webhookId !== undefined) {
          counted.subscriptions.push({ ...subscription, deliveries });
          counted.deliveries += deliveries;
        }
      }
    }
    return counted;
  }
}
