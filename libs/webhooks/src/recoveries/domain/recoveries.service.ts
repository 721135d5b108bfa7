import { Injectable } from '@nestjs/common';
import { AuditTrail, isUuid, NotFoundError, Transactions } from '#libs/kernel';
import {
  type OutageSpan,
  type Recovery,
  type RecoveryCount,
  RecoveryRunningError,
  RecoveryStore,
} from './recovery.js';

/** Recovers subscriptions after an outage on our side. */
@Injectable()
export class RecoveriesService {
  constructor(
    private readonly store: RecoveryStore,
    private readonly transactions: Transactions,
    private readonly audit: AuditTrail,
  ) {}

  /** What a recovery would do. */
  count(span: OutageSpan): Promise<RecoveryCount> {
    return this.store.count(span);
  }

  /**
   * @returns the recovery's id
   * @throws RecoveryRunningError
   */
  async start(span: OutageSpan): Promise<string> {
    return this.transactions.run(async () => {
      const id = await this.store.start(span);
      if (id === undefined) throw new RecoveryRunningError();
      await this.audit.record({ action: 'recovery.create', resourceId: id, accountId: null });
      return id;
    });
  }

  /** @throws NotFoundError */
  async show(id: string): Promise<Recovery> {
    const recovery = isUuid(id) ? await this.store.find(id) : undefined;
    if (!recovery) throw new NotFoundError('recovery');
    return recovery;
  }
}
