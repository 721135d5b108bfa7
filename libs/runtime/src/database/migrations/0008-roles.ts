import type { MigrationInterface, QueryRunner } from 'typeorm';

/** What processes may have done to the tables without owning them. */
export class Roles1763700000008 implements MigrationInterface {
  readonly name = 'Roles1763700000008';

  async up(runner: QueryRunner): Promise<void> {
    for (const sql of [SCHEMA_ALONE, MAKING, FEEDING, REMOVING]) await runner.query(sql);
  }

  /** Never down: a step back is a restore (docs/operating.md). */
  down(): Promise<void> {
    return Promise.reject(new Error('migrations are not undone; restore a backup instead'));
  }
}

// For this transaction, and through FROM CURRENT for every function below that runs with its
// owner's rights: it looks up names in our schema alone, never among what its caller can make.
// pg_temp comes last because it is named; else it would come first.
const SCHEMA_ALONE = `
SELECT set_config('search_path', quote_ident(current_schema()) || ', pg_temp', true);
`;

// As before, but for callers who may not make tables, and for a month ahead at the most.
const MAKING = `
CREATE OR REPLACE FUNCTION ensure_partitions(days_ahead integer) RETURNS integer
LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
DECLARE
  parent text;
  day date;
  part text;
  made integer := 0;
BEGIN
  PERFORM pg_advisory_xact_lock(7770001);
  FOREACH parent IN ARRAY ARRAY['events', 'deliveries', 'attempts'] LOOP
    FOR offset_days IN 0..least(days_ahead, 31) LOOP
      day := (now() AT TIME ZONE 'UTC')::date + offset_days;
      part := format('%s_%s', parent, to_char(day, 'YYYYMMDD'));
      CONTINUE WHEN to_regclass(part) IS NOT NULL;
      EXECUTE format(
        'CREATE TABLE %I (LIKE %I INCLUDING DEFAULTS INCLUDING CONSTRAINTS) WITH (fillfactor = %s)',
        part, parent, CASE parent WHEN 'deliveries' THEN 70 ELSE 100 END);
      EXECUTE format(
        'ALTER TABLE %I ATTACH PARTITION %I FOR VALUES FROM (%L) TO (%L)',
        parent, part,
        least_uuid(day::timestamp AT TIME ZONE 'UTC'),
        least_uuid((day + 1)::timestamp AT TIME ZONE 'UTC'));
      made := made + 1;
    END LOOP;
  END LOOP;
  RETURN made;
END
$$;
REVOKE EXECUTE ON FUNCTION ensure_partitions(integer) FROM PUBLIC;
`;

// It reads partitions by name, and rights are given on the whole table.
const FEEDING = `
ALTER FUNCTION due_deliveries(integer) SECURITY DEFINER SET search_path FROM CURRENT;
REVOKE EXECUTE ON FUNCTION due_deliveries(integer) FROM PUBLIC;
`;

// retention_days(): migrate makes it return what it is configured with. A day that was over for so
// long and one day more is old; nothing else can be removed.
//
// detach_partition(): all others wait for the table while its lock is waited for, so not for long:
// the caller comes again (docs/decisions). What it leaves as a comment is how drop_partition() knows
// what was detached to be dropped, and not by an operator who keeps it.
const REMOVING = `
CREATE FUNCTION retention_days() RETURNS integer LANGUAGE sql STABLE RETURN 30;

CREATE FUNCTION is_old_partition(part text) RETURNS boolean LANGUAGE sql STABLE
SET search_path FROM CURRENT AS $$
  SELECT part ~ '^(events|deliveries|attempts)_[0-9]{8}$'
    AND right(part, 8)
      <= to_char((now() AT TIME ZONE 'UTC')::date - retention_days() - 2, 'YYYYMMDD')
$$;

CREATE FUNCTION detach_partition(part text) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT SET lock_timeout = '100ms' AS $$
DECLARE
  parent regclass;
  is_half_done boolean;
BEGIN
  SELECT inhparent, inhdetachpending INTO parent, is_half_done
  FROM pg_inherits
  WHERE inhparent IN ('events'::regclass, 'deliveries'::regclass, 'attempts'::regclass)
    AND inhrelid = to_regclass(quote_ident(part));
  IF is_half_done THEN
    EXECUTE format('ALTER TABLE %s DETACH PARTITION %I FINALIZE', parent, part);
  ELSIF parent IS NOT NULL AND is_old_partition(part) THEN
    EXECUTE format('ALTER TABLE %s DETACH PARTITION %I', parent, part);
    EXECUTE format('COMMENT ON TABLE %I IS %L', part, 'what is older than it is kept');
  ELSE
    RAISE insufficient_privilege USING MESSAGE = format('%s is no partition that is old', part);
  END IF;
END
$$;
REVOKE EXECUTE ON FUNCTION detach_partition(text) FROM PUBLIC;

CREATE FUNCTION drop_partition(part text) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT SET lock_timeout = '2s' AS $$
BEGIN
  PERFORM FROM pg_class
  WHERE oid = to_regclass(quote_ident(part)) AND relkind = 'r' AND NOT relispartition
    AND obj_description(oid, 'pg_class') = 'what is older than it is kept';
  IF NOT FOUND THEN
    RAISE insufficient_privilege USING MESSAGE = format('%s was not detached to be dropped', part);
  END IF;
  EXECUTE format('DROP TABLE %I', part);
END
$$;
REVOKE EXECUTE ON FUNCTION drop_partition(text) FROM PUBLIC;
`;
