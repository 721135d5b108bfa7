import { Injectable } from '@nestjs/common';
import { BackgroundTasks, Database, prepared } from '#libs/runtime';
import { Activity } from '../activity/domain/activity.js';
import { STEP_MS } from './domain/attempt-history.js';
import { PendingCounts, type PendingRow } from './infrastructure/pending-counts.js';

/** Losses are rare and urgent; a success is only news to who looks at it. */
const LOSSES_MS = 1_000;
const SUCCESSES_MS = 10_000;

const STEP = `date_bin(interval '${STEP_MS / 1_000} s', now(), 'epoch')`;

/**
 * Adds losses to the rows of their subscriptions and this step, in the same order in each process, which prevents
 * deadlocks.
 * @param lost selects `webhook_id` and `count`
 */
const addLosses = (lost: string): string => `
INSERT INTO webhook_losses AS l (webhook_id, at, count, last_at)
SELECT webhook_id, ${STEP}, count, now() FROM (${lost}) lost
ORDER BY webhook_id
ON CONFLICT (webhook_id, at) DO UPDATE
SET count = l.count + excluded.count, last_at = greatest(l.last_at, excluded.last_at)`;

/**
 * Counts what a statement has ended without success, unless the customer did it. For statements off the path of events:
 * the rows stay locked until the transaction ends.
 * @param ended the CTE that returns `webhook_id` and `reason` of these deliveries
 */
export const countLosses = (ended: string): string =>
  addLosses(`
  SELECT webhook_id, count(*) AS count FROM ${ended}
  WHERE reason NOT IN ('requested', 'disabled', 'deleted') GROUP BY webhook_id
`);

/** @returns the subscriptions, and whether they had lost nothing in this step before */
export const ADD_LOSSES = prepared<
  { webhookIds: string[]; counts: number[] },
  { webhookId: string; isFirst: boolean }
>(
  'webhook-losses.add',
  `${addLosses('SELECT * FROM unnest(@webhookIds::bigint[], @counts::integer[]) AS n(webhook_id, count)')}
RETURNING webhook_id AS "webhookId", xmax = 0 AS "isFirst"`,
);

/** Leaves out subscriptions that are gone. @returns the others, and whether it is their first success */
export const ADD_SUCCESSES = prepared<
  { webhookIds: string[]; at: string[] },
  { webhookId: string; isFirst: boolean }
>(
  'webhook-successes.add',
  `
INSERT INTO webhook_successes AS s (webhook_id, at)
SELECT w.id, a.at FROM unnest(@webhookIds::bigint[], @at::timestamptz[]) AS a(webhook_id, at)
JOIN webhooks w ON w.id = a.webhook_id
ORDER BY w.id
ON CONFLICT (webhook_id) DO UPDATE SET at = greatest(s.at, excluded.at)
RETURNING webhook_id AS "webhookId", xmax = 0 AS "isFirst"`,
);

interface Subscription {
  accountId: string;
  webhookId: string;
}

/**
 * Keeps in memory which subscriptions have lost notifications, and when one last succeeded, and stores it from time to
 * time, off the path of an event. What is not stored when the process is killed is lost.
 */
@Injectable()
export class DeliveryResults {
  private readonly losses = new PendingCounts<Subscription, { count: number }>(
    { count: 0 },
    (rows) => this.storeLosses(rows),
  );
  private successes = new Map<string, { accountId: string; ms: number }>();

  constructor(
    tasks: BackgroundTasks,
    private readonly database: Database,
    private readonly activity: Activity,
  ) {
    tasks.add('losses', { everyMs: LOSSES_MS }, () => this.losses.flush());
    tasks.add('successes', { everyMs: SUCCESSES_MS }, () => this.storeSuccesses());
  }

  succeeded(accountId: string, webhookId: string): void {
    this.successes.set(webhookId, { accountId, ms: Date.now() });
  }

  lost(accountId: string, webhookId: string): void {
    this.losses.add(webhookId, { accountId, webhookId }, { count: 1 });
  }

  async flush(): Promise<void> {
    await this.losses.flush();
    await this.storeSuccesses();
  }

  private async storeLosses(rows: readonly PendingRow<Subscription, { count: number }>[]) {
    const stored = await this.database.run(ADD_LOSSES, {
      webhookIds: rows.map(({ key }) => key.webhookId),
      counts: rows.map(({ counts }) => counts.count),
    });
    this.report(stored, new Map(rows.map(({ key }) => [key.webhookId, key])));
  }

  /** Listeners look at these subscriptions again. */
  private report(
    stored: readonly { webhookId: string; isFirst: boolean }[],
    of: ReadonlyMap<string, { accountId: string }>,
  ): void {
    for (const { webhookId: id, isFirst } of stored) {
      const known = of.get(id);
      if (isFirst && known) this.activity.report(known.accountId, { kind: 'webhook', id });
    }
  }

  private async storeSuccesses(): Promise<void> {
    const { successes } = this;
    if (successes.size === 0) return;
    this.successes = new Map();
    let stored;
    try {
      stored = await this.database.run(ADD_SUCCESSES, {
        webhookIds: [...successes.keys()],
        at: [...successes.values()].map(({ ms }) => new Date(ms).toISOString()),
      });
    } catch (error) {
      this.successes = new Map([...successes, ...this.successes]);
      throw error;
    }
    this.report(stored, successes);
  }
}
