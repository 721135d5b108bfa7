import { Injectable } from '@nestjs/common';
import { BusyError, FairSemaphore } from '#libs/kernel';
import { TypeOrmTransactions, withoutNulls } from '#libs/runtime';
import { type Replay, type ReplayCount, type ReplayFilter, ReplayStore } from '../domain/replay.js';
import { dayAt } from '../../partitions/partition-days.js';
import { countReplayed } from './replayed-deliveries.js';
import {
  addOutlook,
  outlookOf,
  type SendOutlook,
} from '../../subscriptions/domain/send-outlook.js';
import { countMissed } from './missed-events.js';
import { readOutlook } from './replay-outlook.js';
import {
  BOUNDS_OF_RANGE,
  CANCEL_REPLAY,
  type CountedSubscription,
  EARLIER_REPLAY,
  FIND_REPLAY,
  IS_HOLDING,
  OWNS_APPLICATION,
  START_REPLAY,
  SUBSCRIPTIONS,
  SUBSCRIPTIONS_AT_ONCE,
} from './replay.statements.js';

/** Counting may read millions of rows. The limits keep one account from using all connections. */
const COUNTS = { atOnce: 2, atOnceOfOne: 1, waitMs: 2_000 };

/** What a replay would send, if it were requested now. */
interface Counted extends Pick<ReplayCount, 'deliveries' | 'leftOut'> {
  until: Date;
  /** Where the range begins, as an id. */
  after: string;
  /** The subscriptions with deliveries to send, and the one that the filter names. */
  subscriptions: CountedSubscription[];
  /** By subscription. */
  counts: ReadonlyMap<string, number>;
}

/** Replays in PostgreSQL. */
@Injectable()
export class PostgresReplayStore extends ReplayStore {
  private readonly counts = new FairSemaphore(
    COUNTS,
    () => new BusyError('Too many replays are being counted now.'),
  );

  constructor(private readonly transactions: TypeOrmTransactions) {
    super();
  }

  async count(accountId: string, filter: ReplayFilter): Promise<ReplayCount> {
    const counted = await this.counted(accountId, filter, { enabledOnly: false });
    const { deliveries, leftOut, subscriptions, counts } = counted;
    const [hold] = await this.transactions.query(IS_HOLDING);
    const outlook: SendOutlook = { now: 0, waiting: {} };
    for (const subscription of subscriptions) {
      const due = counts.get(subscription.id) ?? 0;
      addOutlook(outlook, outlookOf(due, subscription, hold?.isHolding === true));
    }
    return { deliveries, ...outlook, leftOut, leftOutFor: leftOut === 0 ? {} : { off: leftOut } };
  }

  async start(accountId: string, filter: ReplayFilter): Promise<string | undefined> {
    const counted = await this.counted(accountId, filter, { enabledOnly: true });
    const { until, after, subscriptions, counts, deliveries } = counted;
    const { webhookId, since, ...asked } = valuesOf(filter);
    // It was switched off or deleted meanwhile.
    if (webhookId !== undefined && subscriptions.length === 0) return undefined;
    const values = {
      ...{ ...asked, accountId, webhookId, since, until: until.toISOString(), after },
      total: deliveries,
      webhookIds: subscriptions.map(({ id }) => id),
      generations: subscriptions.map(({ generation }) => generation),
      counts: subscriptions.map((subscription) => counts.get(subscription.id) ?? 0),
    };
    const [started] = await this.transactions.query(START_REPLAY, values);
    return started?.id;
  }

  private counted(
    accountId: string,
    filter: ReplayFilter,
    of: { enabledOnly: boolean },
  ): Promise<Counted> {
    return this.counts.run(() => this.countAll(accountId, filter, of), accountId);
  }

  private async countAll(
    accountId: string,
    filter: ReplayFilter,
    { enabledOnly }: { enabledOnly: boolean },
  ): Promise<Counted> {
    const { peek } = this.transactions;
    const { webhookId, missed, since, until: asked, ...conditions } = valuesOf(filter);
    const [bounds] = await this.transactions.query(BOUNDS_OF_RANGE, { since, until: asked });
    if (!bounds) throw new Error('a SELECT without FROM has a row');
    const { until, after } = bounds;
    if (missed && webhookId !== undefined) {
      const subscriptions = await peek(SUBSCRIPTIONS, {
        ...{ accountId, webhookId, after: '-1', enabledOnly: true },
      });
      const isSent = subscriptions.length > 0;
      const deliveries = isSent ? await countMissed(peek, { webhookId, after, until }) : 0;
      const counts = new Map([[webhookId, deliveries]]);
      return { until, after, subscriptions, counts, deliveries, leftOut: 0 };
    }
    const days = { first: dayAt(filter.since), last: dayAt(until) };
    const values = { ...conditions, until: until.toISOString(), recoveredSince: undefined };
    const subscriptions: CountedSubscription[] = [];
    const counts = new Map<string, number>();
    let [deliveries, leftOut] = [0, 0];
    for (
      let page: CountedSubscription[] | undefined;
      !page || page.length === SUBSCRIPTIONS_AT_ONCE;
    ) {
      const last = page?.at(-1)?.id ?? '-1';
      page = await peek(SUBSCRIPTIONS, { accountId, webhookId, after: last, enabledOnly });
      const found = await countReplayed(peek, page, { ...values, after }, days);
      for (const [id, count] of found) counts.set(id, count);
      for (const subscription of page) {
        const count = counts.get(subscription.id) ?? 0;
        if (!subscription.enabled) {
          leftOut += count;
        } else if (count > 0 || webhookId !== undefined) {
          subscriptions.push(subscription);
          deliveries += count;
        }
      }
    }
    return { until, after, subscriptions, counts, deliveries, leftOut };
  }

  async msUntilFewer(
    of: { accountId: string; webhookId: string | undefined },
    limit: { times: number; withinMs: number },
  ): Promise<number> {
    const [oldest] = await this.transactions.query(EARLIER_REPLAY, { ...of, ...limit });
    return oldest ? Math.max(limit.withinMs - oldest.agoMs, 1) : 0;
  }

  async find(id: string, accountId: string): Promise<Replay | undefined> {
    const [row] = await this.transactions.query(FIND_REPLAY, { id, accountId });
    return row && withoutNulls<Replay>(row);
  }

  outlook(accountId: string, replay: Replay): Promise<SendOutlook> {
    return readOutlook(this.transactions.peek, accountId, replay);
  }

  async cancel(id: string): Promise<boolean> {
    return (await this.transactions.query(CANCEL_REPLAY, { id })).length > 0;
  }

  async ownsApplication(accountId: string, applicationId: string): Promise<boolean> {
    const values = { accountId, applicationId };
    return (await this.transactions.query(OWNS_APPLICATION, values)).length > 0;
  }
}

function valuesOf({ since, until, ...filter }: ReplayFilter) {
  const { webhookId, states, missed = false, event, applicationId, status } = filter;
  return {
    ...{ webhookId, states, missed, event, applicationId, status },
    since: since.toISOString(),
    until: until?.toISOString(),
  };
}
