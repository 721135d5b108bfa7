import { Injectable } from '@nestjs/common';
import { BackgroundTasks, Database } from '#libs/kernel';
import { CANCEL, END_CANCELLING } from './delivery-canceller.statements.js';

/** Cancelling millions leaves half of the time to what is to be delivered. */
const OPTIONS = { everyMs: 500, share: 0.5 };
const RUN_MS = 500;
const BATCH = 1_000;

/**
 * Writes to the rows of deliveries that their subscription was switched off or deleted. Runs in
 * every worker.
 */
@Injectable()
export class DeliveryCanceller {
  constructor(
    tasks: BackgroundTasks,
    private readonly database: Database,
  ) {
    tasks.add('cancelling', OPTIONS, () => this.cancel());
  }

  private async cancel(): Promise<void> {
    const end = performance.now() + RUN_MS;
    let cancelled: unknown[];
    do {
      cancelled = await this.database.run(CANCEL, [BATCH]);
    } while (cancelled.length === BATCH && performance.now() < end);
    await this.database.run(END_CANCELLING, []);
  }
}
