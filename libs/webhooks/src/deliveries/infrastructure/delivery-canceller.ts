import { Injectable } from '@nestjs/common';
import { BackgroundTasks, Database } from '#libs/runtime';
import {
  cancelOutdated,
  DAYS_CANCELLED,
  END_CANCELLING,
  findOutdated,
  IS_ANY_CANCELLING,
  MAY_END_CANCELLING,
} from './delivery-canceller.statements.js';
import { PendingDays } from './pending-days.js';
import type { Span } from './partition-walk.js';

/** Cancelling millions leaves half of the time to what is to be delivered. */
const OPTIONS = { everyMs: 500, share: 0.5 };
const RUN_MS = 500;
const BATCH = 1_000;

/**
 * Writes to the rows of deliveries that their subscription was switched off or deleted. Runs in
 * every worker, beside all else: nothing waits for it, however many rows there are.
 */
@Injectable()
export class DeliveryCanceller {
  constructor(
    tasks: BackgroundTasks,
    private readonly database: Database,
    private readonly pendingDays: PendingDays,
  ) {
    tasks.add('cancelling', OPTIONS, () => this.run());
  }

  private async run(): Promise<void> {
    const cancelling = await this.database.run(IS_ANY_CANCELLING);
    if (cancelling.length === 0) return;
    const spans = await this.pendingDays.spans(DAYS_CANCELLED);
    const end = performance.now() + RUN_MS;
    for (const span of spans) await this.cancel(span, end);
    await this.endCancelling(spans);
  }

  private async cancel(span: Span, end: number): Promise<void> {
    let cancelled: unknown[];
    do {
      if (performance.now() > end) return;
      cancelled = await this.database.run(cancelOutdated(span), { limit: BATCH });
    } while (cancelled.length === BATCH);
  }

  /**
   * What became pending since the days were looked at is of a present generation: a subscription was
   * switched off long before that.
   */
  private async endCancelling(spans: readonly Span[]): Promise<void> {
    const asked = await this.database.run(MAY_END_CANCELLING);
    if (asked.length === 0) return;
    const done = new Set(asked.map(({ id }) => id));
    for (const span of spans) {
      const left = await this.database.run(findOutdated(span), { webhookIds: [...done] });
      for (const { id } of left) done.delete(id);
    }
    await this.database.run(END_CANCELLING, { webhookIds: [...done] });
  }
}
