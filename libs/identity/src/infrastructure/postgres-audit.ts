import { Injectable } from '@nestjs/common';
import {
  type AuditEntry,
  AuditTrail,
  type Found,
  MAX_SCANNED_ROWS,
  type ScannedRow,
  type Scope,
  scanPage,
  type Page,
  currentActor,
} from '#libs/kernel';
import { prepared, type RowOf, statement, TypeOrmTransactions, withoutNulls } from '#libs/runtime';
import { type AuditFilter, AuditLog, type AuditRecord } from '../domain/audit-log.js';

interface AuditPage {
  viewer: Scope;
  after: string | undefined;
  limit: number;
  accountId: string | undefined;
  action: string | undefined;
  resource: string | undefined;
  resourceId: string | undefined;
  since: string | undefined;
  until: string | undefined;
}

/** Not prepared, because the best plan depends on which values are given. */
export const LIST_AUDIT = statement<AuditPage, RowOf<AuditRecord> & ScannedRow>(`
SELECT * FROM (
  SELECT id, created_at AS "createdAt", account_id AS "accountId", request_id AS "requestId", action,
    -- A customer is not told who the operators of the service are, nor where they sit.
    CASE WHEN @viewer::bigint IS NULL OR user_id = @viewer THEN user_id END AS "userId",
    CASE WHEN @viewer::bigint IS NULL OR user_id = @viewer OR user_id IS NULL THEN actor
      ELSE 'platform' END AS actor,
    CASE WHEN @viewer::bigint IS NULL OR user_id = @viewer THEN address END AS address,
    split_part(action, '.', 1) AS resource, resource_id AS "resourceId", fields,
    row_number() OVER (ORDER BY id DESC) = ${MAX_SCANNED_ROWS} AS "isLast",
    (@action::text IS NULL OR action = @action)
      AND (@resource::text IS NULL OR split_part(action, '.', 1) = @resource) AS matches
  FROM audit
  WHERE (@viewer::bigint IS NULL OR account_id = @viewer)
    AND (@after::uuid IS NULL OR id < @after)
    AND (@accountId::bigint IS NULL OR account_id = @accountId)
    AND (@resourceId::text IS NULL OR resource_id = @resourceId)
    AND (@since::timestamptz IS NULL OR (created_at >= @since AND id >= least_uuid(@since)))
    AND (@until::timestamptz IS NULL
      OR (created_at < @until AND id < least_uuid(@until + interval '1 ms')))
  ORDER BY id DESC LIMIT ${MAX_SCANNED_ROWS}
) AS scanned
WHERE matches OR "isLast"
ORDER BY id DESC LIMIT @limit`);

/** Reads the audit from PostgreSQL. The kernel's `AuditTrail` writes it. */
@Injectable()
export class PostgresAuditLog implements AuditLog {
  constructor(private readonly transactions: TypeOrmTransactions) {}

  async list(
    viewer: Scope,
    filter: AuditFilter,
    { after, limit }: Page,
  ): Promise<Found<AuditRecord>> {
    const found = await scanPage(limit, [LIST_AUDIT], (statement, most) =>
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

interface RecordedEntries {
  /** JSON. */
  entries: string;
  userId: string | undefined;
  actor: string;
  address: string | undefined;
  requestId: string | undefined;
}

export const RECORD = prepared<RecordedEntries>(
  'audit.record',
  `
INSERT INTO audit (account_id, user_id, actor, address, request_id, action, resource_id, fields)
SELECT (entry ->> 'accountId')::bigint, @userId, @actor, @address, @requestId, entry ->> 'action',
  entry ->> 'resourceId', ARRAY(SELECT jsonb_array_elements_text(entry -> 'fields'))
FROM jsonb_array_elements(@entries::jsonb) AS entry`,
);

/** The {@link AuditTrail} in the table `audit`. */
@Injectable()
export class PostgresAuditTrail implements AuditTrail {
  constructor(private readonly transactions: TypeOrmTransactions) {}

  async record(...entries: AuditEntry[]): Promise<void> {
    if (!this.transactions.underWay)
      throw new Error('a change must be recorded in its transaction');
    if (entries.length === 0) return;
    const { userId, name: actor, address, requestId } = currentActor();
    const values = { entries: JSON.stringify(entries), userId, actor, address, requestId };
    await this.transactions.query(RECORD, values);
  }

  async msUntilFewer(
    { action, resourceId, by }: Parameters<AuditTrail['msUntilFewer']>[0],
    { times, withinMs }: { times: number; withinMs: number },
  ): Promise<number> {
    const { userId, address } = by ?? {};
    const values = { action, resourceId, userId, address, times, withinMs };
    const [oldest] = await this.transactions.query(OLDEST_OF, values);
    return oldest ? Math.max(withinMs - oldest.agoMs, 1) : 0;
  }
}

/** Returns the age in ms of the oldest of the last @times changes, if the window contains that many. */
export const OLDEST_OF = prepared<
  {
    action: string;
    resourceId: string;
    userId: string | undefined;
    address: string | undefined;
    times: number;
    withinMs: number;
  },
  { agoMs: number }
>(
  'audit.oldest-of',
  `
SELECT (extract(epoch FROM clock_timestamp() - created_at) * 1000)::float8 AS "agoMs"
FROM audit
WHERE resource_id = @resourceId AND action = @action
  AND (@userId::bigint IS NULL OR user_id = @userId AND address IS NOT DISTINCT FROM @address::text)
  AND id >= least_uuid(clock_timestamp() - make_interval(secs => @withinMs::float8 / 1000))
ORDER BY id DESC OFFSET @times::integer - 1 LIMIT 1`,
);

/**
 * SQL that records the service's own changes of subscriptions, as part of the statement that makes them.
 * @param source a table with the `id` and the `account_id` of each, with its WHERE
 */
export function recordBySystem(
  { action, fields }: Required<Pick<AuditEntry, 'action' | 'fields'>>,
  source: string,
): string {
  return `INSERT INTO audit (account_id, actor, action, resource_id, fields)
  SELECT account_id, 'system', '${action}', id::text, '{${fields.join(',')}}'
  FROM ${source}`;
}

/**
 * SQL that records a change of a subscription that a user asked for and the service makes later. It needs rights to `users`.
 * @param of SQL of the values
 */
export function recordForUser(
  action: AuditEntry['action'],
  of: Record<'accountId' | 'userId' | 'address' | 'requestId' | 'resourceId' | 'fields', string>,
): string {
  return `INSERT INTO audit (account_id, user_id, actor, address, request_id, action, resource_id, fields)
  VALUES (${of.accountId}, ${of.userId}, '', ${of.address}, ${of.requestId}, '${action}', ${of.resourceId}, ${of.fields})`;
}
