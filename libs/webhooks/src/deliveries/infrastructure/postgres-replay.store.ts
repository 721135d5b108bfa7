import { Injectable } from '@nestjs/common';
import { BusyError, FairSemaphore } from '#libs/kernel';
import { TypeOrmTransactions, withoutNulls } from '#libs/runtime';
import type { Replay, ReplayRange } from '../domain/replay.js';
import { ReplayStore } from '../domain/replay-store.js';
import { dayAt, newestFirst } from './partition-walk.js';
import {
  CANCEL_REPLAY,
  countReplayable,
  END_OF_RANGE,
  FIND_REPLAY,
  DAYS_COUNTED,
  EARLIER_REPLAY,
  START_REPLAY,
} from './replay.statements.js';

/** Counting may read millions of rows. The limits keep one account from using all connections. */
const COUNTS = { atOnce: 2, atOnceOfOne: 1, waitMs: 2_000 };

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

  async count(accountId: string, webhookId: string, range: ReplayRange): Promise<number> {
    return (await this.counted(accountId, webhookId, range)).deliveries;
  }

  async start(
    accountId: string,
    webhookId: string,
    range: ReplayRange,
  ): Promise<string | undefined> {
    const { until, deliveries } = await this.counted(accountId, webhookId, range);
    const values = { ...valuesOf(webhookId, { ...range, until }), total: deliveries };
    const [started] = await this.transactions.query(START_REPLAY, values);
    return started?.id;
  }

  /** @returns the number of deliveries, and the end of the counted range */
  private counted(
    accountId: string,
    webhookId: string,
    range: ReplayRange,
  ): Promise<{ until: Date; deliveries: number }> {
    return this.counts.run(() => this.countAll(webhookId, range), accountId);
  }

  private async countAll(webhookId: string, range: ReplayRange) {
    const asked = { until: range.until?.toISOString() };
    const [end] = await this.transactions.query(END_OF_RANGE, asked);
    if (!end) throw new Error('a SELECT without FROM has a row');
    const { until } = end;
    const values = valuesOf(webhookId, { ...range, until });
    const { peek } = this.transactions;
    const days = { first: dayAt(range.since), last: dayAt(until) };
    let deliveries = 0;
    for await (const span of newestFirst(peek, 'deliveries', DAYS_COUNTED, days)) {
      const [counted] = await peek(countReplayable(span), values);
      deliveries += counted?.deliveries ?? 0;
    }
    return { until, deliveries };
  }

  async msUntilFewer(
    webhookId: string,
    { times, withinMs }: { times: number; withinMs: number },
  ): Promise<number> {
    const values = { webhookId, times, withinMs };
    const [oldest] = await this.transactions.query(EARLIER_REPLAY, values);
    return oldest ? Math.max(withinMs - oldest.agoMs, 1) : 0;
  }

  async find(id: string, accountId: string): Promise<Replay | undefined> {
    const [row] = await this.transactions.query(FIND_REPLAY, { id, accountId });
    return row && withoutNulls<Replay>(row);
  }

  async cancel(id: string): Promise<boolean> {
    return (await this.transactions.query(CANCEL_REPLAY, { id })).length > 0;
  }
}

function valuesOf(webhookId: string, { since, until, states }: Required<ReplayRange>) {
  return { webhookId, since: since.toISOString(), until: until.toISOString(), states };
}
