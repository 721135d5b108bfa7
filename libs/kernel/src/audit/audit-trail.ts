import { Injectable } from '@nestjs/common';
import { Transactions } from '../database/transactions.js';
import { presentActor } from './actor.js';

/** A change of one resource. */
export interface AuditEntry {
  /** The kind of the resource and what happened to it: `webhook.update`. */
  action: `${string}.${string}`;
  resourceId: string;
  /** Whose resource it is; null for what belongs to no account. */
  accountId: string | null;
  /** The names that clients know the changed fields by. Never a value. */
  fields?: readonly string[];
}

const RECORD = {
  name: 'audit.record',
  text: `
INSERT INTO audit (id, created_at, account_id, user_id, actor, address, request_id, action,
  resource_id, fields)
SELECT new_uuid(at, n), at, (entry ->> 'accountId')::bigint, $2, $3, $4, $5, entry ->> 'action',
  entry ->> 'resourceId', ARRAY(SELECT jsonb_array_elements_text(entry -> 'fields'))
-- Not now(), when the transaction began: it may have waited for another, whose entry comes before.
FROM (SELECT clock_timestamp() AS at) clock
CROSS JOIN jsonb_array_elements($1::jsonb) WITH ORDINALITY AS e(entry, n)`,
};

/** Writes down who changed what, in the transaction of the change: both are there, or neither. */
@Injectable()
export class AuditTrail {
  constructor(private readonly transactions: Transactions) {}

  /** @throws Error outside a transaction */
  async record(...entries: AuditEntry[]): Promise<void> {
    if (!this.transactions.underWay) throw new Error('a change is recorded in its transaction');
    if (entries.length === 0) return;
    const { userId = null, name, address = null, requestId = null } = presentActor();
    const values = [JSON.stringify(entries), userId, name, address, requestId];
    await this.transactions.query(RECORD, values);
  }
}

/**
 * SQL that records, within the statement that does it, what the service does to subscriptions by
 * itself.
 * @param source what has the `id` and the `account_id` of each, with its WHERE
 */
export function recordBySystem(
  { action, fields }: Required<Pick<AuditEntry, 'action' | 'fields'>>,
  source: string,
): string {
  return `INSERT INTO audit (id, created_at, account_id, actor, action, resource_id, fields)
  SELECT new_uuid(now(), row_number() OVER ()), now(), account_id, 'system', '${action}', id::text,
    '{${fields.join(',')}}'
  FROM ${source}`;
}
