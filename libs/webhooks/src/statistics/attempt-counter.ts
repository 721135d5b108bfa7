import { Injectable } from '@nestjs/common';
import { BackgroundTasks, Database, prepared } from '#libs/runtime';
import { AccountLoadCounter } from './account-loads.js';
import { PendingCounts, type PendingRow } from './infrastructure/pending-counts.js';
import {
  ALL_WEBHOOKS,
  binOf,
  type CountedAttempt,
  INSTALLATION,
  outcomeOf,
  STEP_MS,
} from './domain/attempt-history.js';

const FLUSH_MS = 10_000;

/** Rows are sorted by their key, so that concurrent workers cannot deadlock. */
export const ADD_COUNTS = prepared<{
  accountIds: string[];
  webhookIds: string[];
  at: string[];
  outcomes: string[];
  bins: number[];
  counts: number[];
}>(
  'attempt-counts.add',
  `
INSERT INTO attempt_counts (account_id, webhook_id, at, outcome, bin, count)
SELECT * FROM unnest(@accountIds::bigint[], @webhookIds::bigint[], @at::timestamptz[],
  @outcomes::text[], @bins::smallint[], @counts::integer[])
ON CONFLICT (account_id, webhook_id, at, outcome, bin)
DO UPDATE SET count = attempt_counts.count + excluded.count`,
);

/** The key of a row. */
interface Key {
  accountId: string;
  webhookId: string;
  atMs: number;
  outcome: string;
  bin: number;
}

/** Attempts of a subscription that are alike, and how long they took together. */
interface AlikeAttempts extends Key {
  count: number;
  busyMs: number;
}

/**
 * Counts a worker's attempts in memory and adds them to the stored counts every ten seconds. The log of attempts is
 * complete also after the worker was killed.
 */
@Injectable()
export class AttemptCounter {
  /** By subscription and the rest of their key. On the path of an event, so only a flush adds up those of an account. */
  private attempts = new Map<string, Map<string, AlikeAttempts>>();
  private readonly counts = new PendingCounts<Key, { count: number }>({ count: 0 }, (rows) =>
    this.store(rows),
  );

  constructor(
    tasks: BackgroundTasks,
    private readonly database: Database,
    private readonly loads: AccountLoadCounter,
  ) {
    tasks.add('attempt-counts', { everyMs: FLUSH_MS }, () => this.flush());
  }

  count({ accountId, webhookId, attempt }: CountedAttempt): void {
    const at = attempt.at.getTime();
    const atMs = at - (at % STEP_MS);
    const bin = attempt.status === undefined ? 0 : binOf(attempt.durationMs);
    const outcome = outcomeOf(attempt);
    let ofWebhook = this.attempts.get(webhookId);
    if (!ofWebhook) this.attempts.set(webhookId, (ofWebhook = new Map<string, AlikeAttempts>()));
    const name = `${atMs} ${outcome} ${bin}`;
    const alike = ofWebhook.get(name);
    if (alike) {
      alike.count += 1;
      alike.busyMs += attempt.durationMs;
    } else {
      const key = { accountId, webhookId, atMs, outcome, bin };
      ofWebhook.set(name, { ...key, count: 1, busyMs: attempt.durationMs });
    }
  }

  /** Stores the counts. Those that could not be stored are kept for the next time. */
  async flush(): Promise<void> {
    const { attempts } = this;
    this.attempts = new Map();
    for (const ofWebhook of attempts.values()) {
      for (const alike of ofWebhook.values()) this.addUp(alike);
    }
    await this.counts.flush();
    await this.loads.flush();
  }

  private addUp({ accountId, webhookId, count, busyMs, ...key }: AlikeAttempts): void {
    const owners = [
      { accountId, webhookId },
      { accountId, webhookId: ALL_WEBHOOKS },
      { accountId: INSTALLATION, webhookId: ALL_WEBHOOKS },
    ];
    const { atMs, outcome, bin } = key;
    for (const owner of owners) {
      const name = `${owner.accountId} ${owner.webhookId} ${atMs} ${outcome} ${bin}`;
      this.counts.add(name, { ...owner, ...key }, { count });
    }
    const result = outcome === '2xx' ? { delivered: count } : { failed: count };
    this.loads.add(accountId, atMs, { ...result, busyMs });
  }

  private async store(rows: readonly PendingRow<Key, { count: number }>[]): Promise<void> {
    await this.database.run(ADD_COUNTS, {
      accountIds: rows.map(({ key }) => key.accountId),
      webhookIds: rows.map(({ key }) => key.webhookId),
      at: rows.map(({ key }) => new Date(key.atMs).toISOString()),
      outcomes: rows.map(({ key }) => key.outcome),
      bins: rows.map(({ key }) => key.bin),
      counts: rows.map(({ counts }) => counts.count),
    });
  }
}
