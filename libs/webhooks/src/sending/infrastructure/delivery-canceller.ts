import { Injectable } from '@nestjs/common';
import { BackgroundTasks, Database } from '#libs/runtime';
import {
  CANCELLED_AT_ONCE,
  cancelOutdated,
  DAYS_CANCELLED,
  END_CANCELLING,
  findOutdated,
  NEXT_CANCELLING,
} from './delivery-canceller.statements.js';
import { PendingDays } from './pending-days.js';
import type { Span } from '../../partitions/partition-walk.js';

/** Even while cancelling millions, leaves half of the time for deliveries. */
const OPTIONS = { everyMs: 500, share: 0.5 };
const RUN_MS = 500;
const BATCH = 1_000;

/**
 * Marks the deliveries of switched-off and deleted subscriptions as cancelled. Runs in every worker, in
 * the background: nothing waits for it, whatever the number of rows.
 */
@Injectable()
export class DeliveryCanceller {
  /** The subscription after which the next look begins. */
  private after = '0';

  constructor(
    tasks: BackgroundTasks,
    private readonly database: Database,
    private readonly pendingDays: PendingDays,
  ) {
    tasks.add('cancelling', OPTIONS, () => this.run());
  }

  private async run(): Promise<void> {
    const cancelling = await this.database.run(NEXT_CANCELLING, { after: this.after });
    const isFull = cancelling.length === CANCELLED_AT_ONCE;
    this.after = (isFull ? cancelling.at(-1)?.id : undefined) ?? '0';
    if (cancelling.length === 0) return;
    const spans = await this.pendingDays.spans(DAYS_CANCELLED);
    const end = performance.now() + RUN_MS;
    const webhookIds = cancelling.map(({ id }) => id);
    for (const span of spans) await this.cancel(webhookIds, span, end);
    const asked = cancelling.filter(({ mayEnd }) => mayEnd).map(({ id }) => id);
    if (asked.length > 0) await this.endCancelling(asked, spans);
  }

  private async cancel(webhookIds: string[], span: Span, end: number): Promise<void> {
    let cancelled: unknown[];
    do {
      if (performance.now() > end) return;
      cancelled = await this.database.run(cancelOutdated(span), { webhookIds, limit: BATCH });
    } while (cancelled.length === BATCH);
  }

  /**
   * Deliveries that became pending after the days were read have the present generation, because their
   * subscription was switched off long before.
   */
  private async endCancelling(asked: readonly string[], spans: readonly Span[]): Promise<void> {
    const done = new Set(asked);
    for (const span of spans) {
      const left = await this.database.run(findOutdated(span), { webhookIds: [...done] });
      for (const { id } of left) done.delete(id);
    }
    await this.database.run(END_CANCELLING, { webhookIds: [...done] });
  }
}
