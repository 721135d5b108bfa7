import { Injectable } from '@nestjs/common';
import { type AuditEntry, AuditTrail, presentActor } from '#libs/kernel';
import { prepared, TypeOrmTransactions } from '#libs/runtime';

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
export class PostgresAuditTrail extends AuditTrail {
  constructor(private readonly transactions: TypeOrmTransactions) {
    super();
  }

  override async record(...entries: AuditEntry[]): Promise<void> {
    if (!this.transactions.underWay)
      throw new Error('a change must be recorded in its transaction');
    if (entries.length === 0) return;
    const { userId, name: actor, address, requestId } = presentActor();
    const values = { entries: JSON.stringify(entries), userId, actor, address, requestId };
    await this.transactions.query(RECORD, values);
  }

  override async msUntilFewer(
    { action, resourceId }: Pick<AuditEntry, 'action' | 'resourceId'>,
    { times, withinMs }: { times: number; withinMs: number },
  ): Promise<number> {
    const values = { action, resourceId, times, withinMs };
    const [oldest] = await this.transactions.query(OLDEST_OF, values);
    return oldest ? Math.max(withinMs - oldest.agoMs, 1) : 0;
  }
}

/** Returns the age in ms of the oldest of the last @times changes, if the window contains that many. */
export const OLDEST_OF = prepared<
  { action: string; resourceId: string; times: number; withinMs: number },
  { agoMs: number }
>(
  'audit.oldest-of',
  `
SELECT (extract(epoch FROM clock_timestamp() - created_at) * 1000)::float8 AS "agoMs"
FROM audit
WHERE resource_id = @resourceId AND action = @action
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
