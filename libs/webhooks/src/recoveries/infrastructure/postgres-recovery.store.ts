import { Injectable } from '@nestjs/common';
import { currentActor } from '#libs/kernel';
import { TypeOrmTransactions, withoutNulls } from '#libs/runtime';
import {
  type OutageSpan,
  type Recovery,
  type RecoveryCount,
  RecoveryStore,
} from '../domain/recovery.js';
import { countAffected, type Look, lookAtSubscriptions } from './affected-subscriptions.js';
import { FIND_RECOVERY, START_RECOVERY } from './recovery.statements.js';

/** Recoveries in PostgreSQL. */
@Injectable()
export class PostgresRecoveryStore extends RecoveryStore {
  constructor(private readonly transactions: TypeOrmTransactions) {
    super();
  }

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

  async start({ since, until }: OutageSpan): Promise<string | undefined> {
    const { userId, address, requestId } = currentActor();
    const [started] = await this.transactions.query(START_RECOVERY, {
      ...{ since: since.toISOString(), until: until.toISOString(), userId, address, requestId },
    });
    return started?.id;
  }

  async find(id: string): Promise<Recovery | undefined> {
    const [row] = await this.transactions.query(FIND_RECOVERY, { id });
    return row && withoutNulls<Recovery>(row);
  }
}
