-- The roles of an installation, for psql 15 or later: once, by an administrator, in the database.
-- The passwords are taken from the environment. docker-compose.yml has it run on a new volume.
\getenv migrate_password MIGRATE_PASSWORD
\getenv api_password API_PASSWORD
\getenv worker_password WORKER_PASSWORD

-- Owns everything; only `migrate` is it. It gives the other two what they need, and nothing else.
CREATE ROLE switchhook_migrate LOGIN PASSWORD :'migrate_password';
CREATE ROLE switchhook_api LOGIN PASSWORD :'api_password';
CREATE ROLE switchhook_worker LOGIN PASSWORD :'worker_password';

-- An administrator who is no superuser has to be a member of the role to give something to it.
GRANT switchhook_migrate TO CURRENT_USER;
SELECT current_database() AS database \gset
ALTER DATABASE :"database" OWNER TO switchhook_migrate;
REVOKE ALL ON DATABASE :"database" FROM PUBLIC;
GRANT CONNECT ON DATABASE :"database" TO switchhook_api, switchhook_worker;
REVOKE CREATE ON SCHEMA public FROM PUBLIC;
-- Everybody may connect to the databases that every server has, and fill its disk with temporary tables.
DO $$
DECLARE
  database text;
BEGIN
  FOR database IN
    SELECT quote_ident(datname) FROM pg_database
    WHERE datname IN ('postgres', 'template1') AND datname <> current_database()
      AND pg_has_role(datdba, 'USAGE')
  LOOP
    EXECUTE format('REVOKE CONNECT, TEMPORARY ON DATABASE %s FROM PUBLIC', database);
  END LOOP;
  -- Those of others are theirs to close: here, or in pg_hba.conf.
  FOR database IN
    SELECT datname FROM pg_database
    WHERE datallowconn AND datname <> current_database()
      AND has_database_privilege('switchhook_api', oid, 'CONNECT')
  LOOP
    RAISE NOTICE 'the processes may still connect to the database %', database;
  END LOOP;
END
$$;
-- So that no process that hangs blocks others, no plan reads a whole table, and no setting of the database or the
-- server harms the processes; libs/runtime/src/database/roles.ts has the same.
DO $$
DECLARE
  statement text;
BEGIN
  FOR statement IN
    SELECT format('ALTER ROLE %I IN DATABASE %I SET %s = %L', role, current_database(), name, value)
    FROM unnest('{switchhook_api,switchhook_worker}'::name[]) AS role, (VALUES
      ('statement_timeout', '14s'),
      ('lock_timeout', '5s'),
      ('idle_in_transaction_session_timeout', '10s'),
      ('enable_seqscan', 'off'),
      ('enable_sort', 'off'),
      ('DateStyle', 'ISO, MDY'),
      ('array_nulls', 'on'),
      ('extra_float_digits', '1'),
      ('default_transaction_isolation', 'read committed'),
      ('synchronous_commit', 'on'),
      ('enable_partition_pruning', 'on'),
      ('plan_cache_mode', 'auto'),
      ('idle_session_timeout', '0'),
      ('transaction_timeout', '0')
    ) AS needed(name, value)
    -- PostgreSQL 16 has no transaction_timeout.
    WHERE needed.name IN (SELECT pg_settings.name FROM pg_settings)
  LOOP
    EXECUTE statement;
  END LOOP;
END
$$;
-- PostgreSQL would otherwise compile the statement of each event.
ALTER DATABASE :"database" SET jit = 'off';
GRANT ALL ON SCHEMA public TO switchhook_migrate;

-- What an installation with a single role has so far.
DO $$
DECLARE
  statement text;
BEGIN
  FOR statement IN
    SELECT format('ALTER TABLE %s OWNER TO switchhook_migrate', oid::regclass)
    FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p')
    UNION ALL
    SELECT format('ALTER ROUTINE %s OWNER TO switchhook_migrate', oid::regprocedure)
    FROM pg_proc WHERE pronamespace = 'public'::regnamespace
  LOOP
    EXECUTE statement;
  END LOOP;
END
$$;
