import { Injectable } from '@nestjs/common';
import { AuditTrail, currentActor, isUuid, NotFoundError } from '#libs/kernel';
import { TypeOrmTransactions, withoutNulls } from '#libs/runtime';
import {
  type OutageSpan,
  type Recovery,
  type RecoveryCount,
  RecoveryRunningError,
} from './domain/recovery.js';
import {
  countAffected,
  type Look,
  lookAtSubscriptions,
} from './infrastructure/affected-subscriptions.js';
import { FIND_RECOVERY, START_RECOVERY } from './infrastructure/recovery.statements.js';

/** Recovers subscriptions from an outage of the service. Workers carry it out. */
@Injectable()
export class Recoveries {
  constructor(
    private readonly transactions: TypeOrmTransactions,
    private readonly audit: AuditTrail,
  ) {}

  /** What a recovery would do now. */
  async count(span: OutageSpan): Promise<RecoveryCount> {
    const { peek } = this.transactions;
    const count = { subscriptions: 0, circuitsClosed: 0, switchedOn: 0, deliveries: 0 };
    for (let look: Look | undefined; look?.isLast !== true;) {
      look = await lookAtSubscriptions(peek, span, look?.after ?? '0');
      for (const looked of look.affected) {
        const found = await countAffected(peek, span, looked);
        if (!found) continue;
        count.subscriptions += 1;
        if (found.effect === 'switched_on') count.switchedOn += 1;
        else if (found.isOpen) count.circuitsClosed += 1;
        count.deliveries += found.deliveries + found.missed;
      }
    }
    return count;
  }

  /**
   * Starts a recovery for the current actor.
   * @returns its id
   * @throws RecoveryRunningError if another one is still looking for subscriptions
   */
  async start({ since, until }: OutageSpan): Promise<string> {
    const { userId, address, requestId } = currentActor();
    return this.transactions.run(async () => {
      const [started] = await this.transactions.query(START_RECOVERY, {
        ...{ since: since.toISOString(), until: until.toISOString(), userId, address, requestId },
      });
      if (!started) throw new RecoveryRunningError();
      const { id } = started;
      await this.audit.record({ action: 'recovery.create', resourceId: id, accountId: null });
      return id;
    });
  }

  /** @throws NotFoundError */
  async show(id: string): Promise<Recovery> {
    const [row] = isUuid(id) ? await this.transactions.query(FIND_RECOVERY, { id }) : [];
    if (!row) throw new NotFoundError('recovery');
    return withoutNulls<Recovery>(row);
  }
}
