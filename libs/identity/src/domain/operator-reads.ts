import { Injectable } from '@nestjs/common';
import { type Actor, actAs, type AuditEntry, AuditTrail, Transactions } from '#libs/kernel';
import { isOperator } from './access.js';
import type { Principal } from './logins.js';
import { UsersRepository } from './user.js';

/** What an operator has read: a list of an account, whose id is then the resource's, or one resource. */
interface Read extends Pick<AuditEntry, 'resourceId'> {
  action: 'user.list_applications' | 'user.list_webhooks' | 'application.show' | 'webhook.show';
  accountId: string;
}

/** Reads of the same list or resource within this time, from the same address, leave one entry. */
const VISIT_MS = 30 * 60_000;

/** Records in the audit what operators read of the resources of customers. */
@Injectable()
export class OperatorReads {
  constructor(
    private readonly transactions: Transactions,
    private readonly audit: AuditTrail,
    private readonly users: UsersRepository,
  ) {}

  /**
   * Call it once for each request. Nothing is recorded of what a user reads of the own account, nor of an account that
   * does not exist, whose lists are empty.
   */
  async record({ role, userId }: Principal, actor: Actor, read: Read): Promise<void> {
    if (!isOperator(role) || read.accountId === userId) return;
    if (!(await this.users.findById(read.accountId))) return;
    await actAs(actor, () => this.transactions.run(() => this.recordOnce(actor, read)));
  }

  private async recordOnce(by: Actor, read: Read): Promise<void> {
    const { action, resourceId } = read;
    const once = { times: 1, withinMs: VISIT_MS };
    const isNoted = (await this.audit.msUntilFewer({ action, resourceId, by }, once)) > 0;
    if (!isNoted) await this.audit.record(read);
  }
}
