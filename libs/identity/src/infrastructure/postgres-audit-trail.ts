import { Injectable } from '@nestjs/common';
import { type AuditEntry, AuditTrail, presentActor } from '#libs/kernel';
import { TypeOrmTransactions } from '#libs/runtime';

const RECORD = {
  name: 'audit.record',
  text: `
INSERT INTO audit (account_id, user_id, actor, address, request_id, action, resource_id, fields)
SELECT (entry ->> 'accountId')::bigint, $2, $3, $4, $5, entry ->> 'action', entry ->> 'resourceId',
  ARRAY(SELECT jsonb_array_elements_text(entry -> 'fields'))
FROM jsonb_array_elements($1::jsonb) AS entry`,
};

/** The {@link AuditTrail} of the table `audit`. */
@Injectable()
export class PostgresAuditTrail extends AuditTrail {
  constructor(private readonly transactions: TypeOrmTransactions) {
    super();
  }

  override async record(...entries: AuditEntry[]): Promise<void> {
    if (!this.transactions.underWay) throw new Error('a change is recorded in its transaction');
    if (entries.length === 0) return;
    const { userId = null, name, address = null, requestId = null } = presentActor();
    const values = [JSON.stringify(entries), userId, name, address, requestId];
    await this.transactions.query(RECORD, values);
  }

  override async msUntilFewer(
    { action, resourceId }: Pick<AuditEntry, 'action' | 'resourceId'>,
    { times, withinMs }: { times: number; withinMs: number },
  ): Promise<number> {
    const values = [action, resourceId, withinMs, times];
    const [oldest] = await this.transactions.query<{ ago_ms: number }>(OLDEST_OF, values);
    return oldest ? Math.max(withinMs - oldest.ago_ms, 1) : 0;
  }
}

/**
 * $1 action, $2 resource, $3 time to look back in ms, $4 how many. Returns how long ago the oldest of so
 * many was, in ms.
 */
const OLDEST_OF = {
  name: 'audit.oldest-of',
  text: `
SELECT (extract(epoch FROM clock_timestamp() - created_at) * 1000)::float8 AS ago_ms
FROM audit
WHERE resource_id = $2 AND action = $1
  AND id >= least_uuid(clock_timestamp() - make_interval(secs => $3::float8 / 1000))
ORDER BY id DESC OFFSET $4::integer - 1 LIMIT 1`,
};

/**
 * SQL that records, within the statement that does it, what the service does to subscriptions by
 * itself.
 * @param source what has the `id` and the `account_id` of each, with its WHERE
 */
export function recordBySystem(
  { action, fields }: Required<Pick<AuditEntry, 'action' | 'fields'>>,
  source: string,
): string {
  return `INSERT INTO audit (account_id, actor, action, resource_id, fields)
  SELECT account_id, 'system', '${action}', id::text, '{${fields.join(',')}}'
  FROM ${source}`;
}
