import { Injectable } from '@nestjs/common';
import { AuditTrail, isUuid, NotFoundError, type Scope, timeOfId } from '#libs/kernel';
import { TypeOrmTransactions, withoutNulls } from '#libs/runtime';
import { type Day, daysOf, leastIdAt } from '../partitions/partition-days.js';
import {
  type Erasure,
  type ErasureCount,
  type ErasureRequest,
  ErasuresRunningError,
} from './domain/erasure.js';
import { FIND_ERASURE, START_ERASURE } from './infrastructure/erasure.statements.js';
import { nextDay, searchDay } from './infrastructure/event-search.js';

/** Erases a text from stored events. Workers carry it out. */
@Injectable()
export class Erasures {
  constructor(
    private readonly transactions: TypeOrmTransactions,
    private readonly audit: AuditTrail,
  ) {}

  /** What an erasure would find now. */
  async count({ contains, accountId, since, until }: ErasureRequest): Promise<ErasureCount> {
    const { peek } = this.transactions;
    const before = until && until < new Date() ? until : new Date();
    const days: Day[] = await daysOf(peek, 'events');
    const count = { events: 0, producerIds: 0 };
    let after = leastIdAt(since?.getTime() ?? 0);
    for (;;) {
      const day = nextDay(days, { after, until: before });
      if (day === undefined) return count;
      const { found, upTo } = await searchDay(
        peek,
        day,
        { accountId, after, since: since?.toISOString(), until: before.toISOString() },
        { contains },
      );
      count.events += found.filter(({ hasText }) => hasText).length;
      count.producerIds += found.filter(({ hasKey }) => hasKey).length;
      after = upTo;
    }
  }

  /**
   * Starts an erasure for the current actor.
   * @returns its id
   * @throws ErasuresRunningError
   */
  async start({ contains, accountId, since, until }: ErasureRequest): Promise<string> {
    return this.transactions.run(async () => {
      const [started] = await this.transactions.query(START_ERASURE, {
        accountId,
        contains,
        since: since?.toISOString(),
        until: until?.toISOString(),
      });
      if (!started) throw new ErasuresRunningError();
      const { id } = started;
      await this.audit.record({
        action: 'erasure.create',
        resourceId: id,
        accountId: accountId ?? null,
      });
      return id;
    });
  }

  /** @throws NotFoundError */
  async show(id: string, scope: Scope): Promise<Erasure> {
    const [row] = isUuid(id)
      ? await this.transactions.query(FIND_ERASURE, { id, accountId: scope })
      : [];
    if (!row) throw new NotFoundError('erasure');
    const { after, ...erasure } = row;
    const searchedTo = timeOfId(after);
    // Before the first event, it stands at the beginning of time.
    const isAmid = erasure.state === 'running' && searchedTo.getTime() > 0;
    return withoutNulls<Erasure>({ ...erasure, searchedTo: isAmid ? searchedTo : null });
  }
}
