import { Injectable } from '@nestjs/common';
import { type Found, lookUpTo, type Page } from '#libs/kernel';
import { TypeOrmTransactions, withoutNulls } from '#libs/runtime';
import { type AuditFilter, AuditLog, type AuditRecord } from '../domain/audit-log.js';
import { LIST_AUDIT } from './audit.statements.js';

/** Reads the audit from PostgreSQL. The kernel's `AuditTrail` writes it. */
@Injectable()
export class PostgresAuditLog extends AuditLog {
  constructor(private readonly transactions: TypeOrmTransactions) {
    super();
  }

  override async list(
    viewer: string | undefined,
    filter: AuditFilter,
    { after, limit }: Page,
  ): Promise<Found<AuditRecord>> {
    const found = await lookUpTo(limit, [LIST_AUDIT], (statement, most) =>
      this.transactions.query(statement, {
        viewer,
        after,
        limit: most,
        accountId: filter.accountId,
        action: filter.action,
        resource: filter.resource,
        resourceId: filter.resourceId,
        since: filter.since?.toISOString(),
        until: filter.until?.toISOString(),
      }),
    );
    return { ...found, rows: found.rows.map(withoutNulls<AuditRecord>) };
  }
}
