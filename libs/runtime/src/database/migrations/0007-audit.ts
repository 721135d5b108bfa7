import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Who changed what, in a table that only grows. */
export class Audit1763700000007 implements MigrationInterface {
  readonly name = 'Audit1763700000007';

  async up(runner: QueryRunner): Promise<void> {
    for (const sql of [AUDIT, APPEND_ONLY]) await runner.query(sql);
  }

  /** Never down: a step back is a restore (docs/operating.md). */
  down(): Promise<void> {
    return Promise.reject(new Error('migrations are not undone; restore a backup instead'));
  }
}

// account_id: whose resource it is; null for what belongs to no account. actor: the username, or
// without a user_id `cli` or `system`. fields: names alone. No foreign keys: an entry outlives all
// that it tells of.
const AUDIT = `
CREATE TABLE audit (
  id uuid NOT NULL,
  created_at timestamptz NOT NULL,
  account_id bigint,
  user_id bigint,
  actor text NOT NULL,
  address text,
  request_id text,
  action text NOT NULL,
  resource_id text NOT NULL,
  fields text[] NOT NULL DEFAULT '{}',
  CONSTRAINT audit_pkey PRIMARY KEY (id)
);
CREATE INDEX audit_account_idx ON audit (account_id, id);
`;

// ALWAYS: session_replication_role = replica does not get around it.
const APPEND_ONLY = `
CREATE FUNCTION refuse_change_of_audit() RETURNS trigger
LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'the table audit is only added to' USING ERRCODE = 'insufficient_privilege';
END
$$;
CREATE TRIGGER audit_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON audit
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change_of_audit();
ALTER TABLE audit ENABLE ALWAYS TRIGGER audit_append_only;
`;
