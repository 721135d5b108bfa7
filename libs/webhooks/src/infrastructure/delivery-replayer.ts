import { Injectable } from '@nestjs/common';
import { BackgroundTasks, Database, Transactions } from '#libs/kernel';
import { CONTINUE_REPLAY, END_REPLAYS, READY_REPLAYS, TAKE_REPLAY } from './replay.statements.js';

const OPTIONS = { everyMs: 500, share: 0.25 };
/** So many begin anew at once, and so many of a subscription wait at the most before more do. */
const BATCH = 500;

/**
 * Carries out replays, a batch of each at a time, as fast as their targets take them. Runs in every
 * worker. How far a replay came is stored with what it did, so another worker goes on with just the
 * next delivery.
 */
@Injectable()
export class DeliveryReplayer {
  constructor(
    tasks: BackgroundTasks,
    private readonly transactions: Transactions,
    private readonly database: Database,
  ) {
    tasks.add('replaying', OPTIONS, (signal) => this.replay(signal));
  }

  private async replay(signal: AbortSignal): Promise<void> {
    await this.database.run(END_REPLAYS, []);
    const ready = await this.database.run<{ id: string }>(READY_REPLAYS, [BATCH]);
    const failures: unknown[] = [];
    for (const { id } of ready) {
      signal.throwIfAborted();
      // One whose rows somebody has locked keeps no other from going on.
      await this.continue(id).catch((error: unknown) => failures.push(error));
    }
    if (failures.length > 0) throw failures[0];
  }

  private async continue(id: string): Promise<void> {
    await this.transactions.run(async () => {
      const { manager } = this.transactions;
      const taken = await manager.query<unknown[]>(TAKE_REPLAY, [BATCH, id]);
      if (taken.length > 0) await manager.query(CONTINUE_REPLAY, [id, BATCH]);
    });
  }
}
