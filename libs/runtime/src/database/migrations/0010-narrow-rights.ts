import type { MigrationInterface, QueryRunner } from 'typeorm';

/** What a process that was taken over could still claim or move. */
export class NarrowRights1763700000010 implements MigrationInterface {
  readonly name = 'NarrowRights1763700000010';

  async up(runner: QueryRunner): Promise<void> {
    for (const sql of [SCHEMA_ALONE, SIGNED_AUDIT, RAISING]) await runner.query(sql);
  }

  /** Never down: a step back is a restore (docs/operating.md). */
  down(): Promise<void> {
    return Promise.reject(new Error('migrations are not undone; restore a backup instead'));
  }
}

// As in 0008: for this transaction, and through FROM CURRENT for functions.
const SCHEMA_ALONE = `
SELECT set_config('search_path', quote_ident(current_schema()) || ', pg_temp', true);
`;

// With its caller's rights: the worker may not read users, and so it records everything as the system.
const SIGNED_AUDIT = `
CREATE FUNCTION sign_audit() RETURNS trigger
LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
  NEW.created_at := clock_timestamp();
  NEW.id := new_uuid(NEW.created_at, 0);
  IF NEW.user_id IS NOT NULL THEN
    SELECT username INTO NEW.actor FROM users WHERE id = NEW.user_id;
    IF NOT FOUND THEN
      RAISE insufficient_privilege USING MESSAGE = format('there is no user %s', NEW.user_id);
    END IF;
  ELSE
    IF NEW.actor <> 'cli' OR NOT has_table_privilege('users', 'SELECT') THEN
      NEW.actor := 'system';
    END IF;
    NEW.address := NULL;
    NEW.request_id := NULL;
  END IF;
  RETURN NEW;
END
$$;
CREATE TRIGGER audit_signed BEFORE INSERT ON audit FOR EACH ROW EXECUTE FUNCTION sign_audit();
ALTER TABLE audit ENABLE ALWAYS TRIGGER audit_signed;
`;

// ">=": the first number of a sequence that was never asked is its last_value, too.
const RAISING = `
CREATE FUNCTION raise_application_ids() RETURNS void
LANGUAGE sql SECURITY DEFINER SET search_path FROM CURRENT AS $$
  SELECT setval('applications_id_seq', max(id)) FROM applications
  HAVING max(id) >= (SELECT last_value FROM applications_id_seq)
$$;
REVOKE EXECUTE ON FUNCTION raise_application_ids() FROM PUBLIC;
`;
