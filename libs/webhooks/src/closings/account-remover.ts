import { Injectable } from '@nestjs/common';
import { BackgroundTasks, Database } from '#libs/runtime';
import { DAY_MS, daysAtOnce, daysOf, leastIdAt, spansOf } from '../partitions/partition-days.js';
import { CLOSING_ACCOUNTS, FINISH, type Kind, KINDS, REMOVE_DATA } from './closings.statements.js';

const OPTIONS = { everyMs: 1_000, share: 0.25 };
/** How long one run works on an account before it turns to the next. */
const RUN_MS = 2_000;
const BATCH = 500;
const DAYS = daysAtOnce('deliveries', 'deliveries', 'deliveries', 'attempts');

/**
 * Removes the data of accounts that are being closed, in small batches. Runs in every worker. What is removed is gone, and
 * what is left decides what is to be done, so any worker can continue after one that was killed.
 */
@Injectable()
export class AccountRemover {
  constructor(
    tasks: BackgroundTasks,
    private readonly database: Database,
  ) {
    tasks.add('closing-accounts', OPTIONS, (signal) => this.run(signal));
  }

  private async run(signal: AbortSignal): Promise<void> {
    for (const { accountId } of await this.database.run(CLOSING_ACCOUNTS)) {
      const end = performance.now() + RUN_MS;
      const isGoingOn = () => {
        signal.throwIfAborted();
        return performance.now() < end;
      };
      if (await this.hasNoData(accountId, isGoingOn)) await this.finish(accountId, isGoingOn);
    }
  }

  /** Removes data. @returns whether there was none; false if another worker is at it */
  private async hasNoData(accountId: string, isGoingOn: () => boolean): Promise<boolean> {
    let isEmpty = true;
    for (const kind of KINDS) {
      for (const { after, until } of await this.spans(kind)) {
        for (let from = after, isLast = false; !isLast;) {
          if (!isGoingOn()) return false;
          const [row] = await this.database.run(REMOVE_DATA, {
            ...{ accountId, kind, after: from, until, most: BATCH },
          });
          if (!row) return false;
          isEmpty &&= row.seen === 0;
          isLast = row.seen < BATCH;
          from = row.last ?? from;
        }
      }
    }
    return isEmpty;
  }

  private async finish(accountId: string, isGoingOn: () => boolean): Promise<void> {
    let removed: number | null = null;
    do {
      if (!isGoingOn()) return;
      const [row] = await this.database.run(FINISH, { accountId, most: BATCH });
      removed = row?.removed ?? null;
    } while (removed !== null && removed > 0);
  }

  /** Bounds of ids, oldest first. */
  private async spans(kind: Kind): Promise<{ after: string; until: string }[]> {
    const spans = spansOf(await daysOf(this.database.run, kind), DAYS).reverse();
    return spans.map(({ first, last }) => ({
      after: leastIdAt(first * DAY_MS),
      until: leastIdAt((last + 1) * DAY_MS),
    }));
  }
}
