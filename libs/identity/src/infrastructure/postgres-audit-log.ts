import { Injectable } from '@nestjs/common';
import { type Found, LOOKED_AT, type LookedAt, lookUpTo, type Page } from '#libs/kernel';
import { Database } from '#libs/runtime';
import { type AuditFilter, AuditLog, type AuditRecord } from '../domain/audit-log.js';

/**
 * $1 viewer, $2 after, $3 limit, $4 account, $5 action, $6 resource, $7 its id, $8 since, $9 until.
 * Without a name: the best plan depends on which of them are given. A customer is not told who the
 * operators of the service are, nor where they sit.
 */
const LIST = {
  text: `
SELECT * FROM (
  SELECT id, created_at, account_id, request_id, action,
    CASE WHEN $1::bigint IS NULL OR user_id = $1 THEN user_id END AS user_id,
    CASE WHEN $1::bigint IS NULL OR user_id = $1 OR user_id IS NULL THEN actor
      ELSE 'platform' END AS actor,
    CASE WHEN $1::bigint IS NULL OR user_id = $1 THEN address END AS address,
    split_part(action, '.', 1) AS resource, resource_id, fields,
    row_number() OVER (ORDER BY id DESC)::integer AS place,
    ($5::text IS NULL OR action = $5)
      AND ($6::text IS NULL OR split_part(action, '.', 1) = $6) AS matches
  FROM audit
  WHERE ($1::bigint IS NULL OR account_id = $1)
    AND ($2::uuid IS NULL OR id < $2)
    AND ($4::bigint IS NULL OR account_id = $4)
    AND ($7::text IS NULL OR resource_id = $7)
    AND ($8::timestamptz IS NULL OR (created_at >= $8 AND id >= least_uuid($8)))
    AND ($9::timestamptz IS NULL OR (created_at < $9 AND id < least_uuid($9 + interval '1 ms')))
  ORDER BY id DESC LIMIT ${LOOKED_AT}
) AS looked_at
WHERE matches OR place = ${LOOKED_AT}
ORDER BY id DESC LIMIT $3`,
};

interface AuditRow extends LookedAt {
  created_at: Date;
  account_id: string | null;
  user_id: string | null;
  actor: string;
  address: string | null;
  request_id: string | null;
  action: string;
  resource: string;
  resource_id: string;
  fields: string[];
}

/** The audit in PostgreSQL; `AuditTrail` of the kernel writes it. */
@Injectable()
export class PostgresAuditLog extends AuditLog {
  constructor(private readonly database: Database) {
    super();
  }

  override async list(
    viewer: string | undefined,
    filter: AuditFilter,
    { after, limit }: Page,
  ): Promise<Found<AuditRecord>> {
    const found = await lookUpTo(limit, [LIST], (statement, most) =>
      this.database.query<AuditRow>(statement, [
        viewer ?? null,
        after ?? null,
        most,
        filter.accountId ?? null,
        filter.action ?? null,
        filter.resource ?? null,
        filter.resourceId ?? null,
        filter.since?.toISOString() ?? null,
        filter.until?.toISOString() ?? null,
      ]),
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
