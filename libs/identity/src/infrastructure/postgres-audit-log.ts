import { Injectable } from '@nestjs/common';
import { type Found, lookUpTo, type Page } from '#libs/kernel';
import { TypeOrmTransactions } from '#libs/runtime';
import { type AuditFilter, AuditLog, type AuditRecord } from '../domain/audit-log.js';
import { type AuditRow, LIST_AUDIT } from './audit.statements.js';

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
    return { ...found, rows: found.rows.map(recordOf) };
  }
}

function recordOf(row: AuditRow): AuditRecord {
  return {
    id: row.id,
    createdAt: row.created_at,
    ...(row.account_id !== null && { accountId: row.account_id }),
    ...(row.user_id !== null && { userId: row.user_id }),
    actor: row.actor,
    ...(row.address !== null && { address: row.address }),
    ...(row.request_id !== null && { requestId: row.request_id }),
    action: row.action,
    resource: row.resource,
    resourceId: row.resource_id,
    fields: row.fields,
  };
}
