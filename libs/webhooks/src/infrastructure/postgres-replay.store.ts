import { Injectable } from '@nestjs/common';
import { BusyError, Transactions, Turns } from '#libs/kernel';
import type { Replay, ReplayableState, ReplayRange, ReplayState } from '../domain/replay.js';
import { ReplayStore } from '../domain/replay-store.js';
import { CANCEL_REPLAY, COUNT_REPLAYABLE, FIND_REPLAY, START_REPLAY } from './replay.statements.js';

interface ReplayRow {
  id: string;
  webhook_id: string;
  since: Date;
  until: Date;
  states: ReplayableState[];
  state: ReplayState;
  total: number;
  replayed: number;
  created_at: Date;
  completed_at: Date | null;
}

interface CountRow {
  deliveries: number;
  /** Up to when they were counted. */
  until: Date;
}

/** Counting may read millions of rows: whoever asks for it again and again shall not have all connections. */
const COUNTS = { atOnce: 2, waitMs: 2_000 };

/** Replays in PostgreSQL. */
@Injectable()
export class PostgresReplayStore extends ReplayStore {
  private readonly counts = new Turns(COUNTS);

  constructor(private readonly transactions: Transactions) {
    super();
  }

  async count(webhookId: string, range: ReplayRange): Promise<number> {
    return (await this.counted(webhookId, range))?.deliveries ?? 0;
  }

  async start(webhookId: string, range: ReplayRange): Promise<string | undefined> {
    const counted = await this.counted(webhookId, range);
    if (!counted) return undefined;
    const { until, deliveries } = counted;
    const values = [...valuesOf(webhookId, { ...range, until }), deliveries];
    return (await this.transactions.query<{ id: string }>(START_REPLAY, values))[0]?.id;
  }

  private async counted(webhookId: string, range: ReplayRange): Promise<CountRow | undefined> {
    const values = valuesOf(webhookId, range);
    const rows = await this.counts.run(
      () => this.transactions.query<CountRow>(COUNT_REPLAYABLE, values),
      () => new BusyError('Too many replays are being counted now.'),
    );
    return rows[0];
  }

  async find(id: string, accountId: string): Promise<Replay | undefined> {
    const [row] = await this.transactions.query<ReplayRow>(FIND_REPLAY, [id, accountId]);
    return row && replayOf(row);
  }

  async cancel(id: string): Promise<boolean> {
    return (await this.transactions.query(CANCEL_REPLAY, [id])).length > 0;
  }
}

function valuesOf(webhookId: string, { since, until, states }: ReplayRange): unknown[] {
  return [webhookId, since.toISOString(), until?.toISOString() ?? null, states];
}

function replayOf(row: ReplayRow): Replay {
  return {
    id: row.id,
    webhookId: row.webhook_id,
    since: row.since,
    until: row.until,
    states: row.states,
    state: row.state,
    total: row.total,
    replayed: row.replayed,
    createdAt: row.created_at,
    ...(row.completed_at !== null && { completedAt: row.completed_at }),
  };
}
