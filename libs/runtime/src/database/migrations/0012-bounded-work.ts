import type { MigrationInterface, QueryRunner } from 'typeorm';

/** What one account could make others wait for, or the disk fill with. */
export class BoundedWork1763700000012 implements MigrationInterface {
  readonly name = 'BoundedWork1763700000012';

  async up(runner: QueryRunner): Promise<void> {
    for (const sql of [INDEXES, SCHEMA_ALONE, FORGETTING]) await runner.query(sql);
  }

  /** Never down: a step back is a restore (docs/operating.md). */
  down(): Promise<void> {
    return Promise.reject(new Error('migrations are not undone; restore a backup instead'));
  }
}

const INDEXES = `
CREATE INDEX replays_webhook_idx ON replays (webhook_id, id);
CREATE INDEX audit_account_resource_idx ON audit (account_id, resource_id, id);
CREATE INDEX webhooks_deleted_idx ON webhooks (deleted_at) WHERE deleted_at IS NOT NULL;
`;

// As in 0008: for this transaction, and through FROM CURRENT for functions.
const SCHEMA_ALONE = `
SELECT set_config('search_path', quote_ident(current_schema()) || ', pg_temp', true);
`;

// The worker may not delete subscriptions, but for those that were deleted before every delivery that
// is kept. A day is dropped up to two days after it is too old.
const FORGETTING = `
CREATE FUNCTION forget_webhooks(days integer, most integer) RETURNS integer
LANGUAGE sql SECURITY DEFINER SET search_path FROM CURRENT AS $$
  WITH forgotten AS (
    DELETE FROM webhooks WHERE id IN (
      SELECT id FROM webhooks
      WHERE deleted_at < now() - (greatest(days, retention_days()) + 3) * interval '24 hours'
        AND NOT cancelling
      ORDER BY deleted_at LIMIT most FOR UPDATE SKIP LOCKED
    )
    RETURNING id
  )
  SELECT count(*)::integer FROM forgotten
$$;
REVOKE EXECUTE ON FUNCTION forget_webhooks(integer, integer) FROM PUBLIC;
`;
