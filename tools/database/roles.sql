-- Creates the roles of an installation, in psql 15 or later: run it once in the database as an administrator. It reads
-- the passwords from the environment. docker-compose.yml runs it on a new volume. With `--set=schema=two`, it creates the
-- roles of a further installation in the database: two_migrate, two_api and two_worker.
\getenv migrate_password MIGRATE_PASSWORD
\getenv api_password API_PASSWORD
\getenv worker_password WORKER_PASSWORD
\if :{?schema}
\set installation :schema
\else
\set installation switchhook
\endif
\set migrate :installation _migrate
\set api :installation _api
\set worker :installation _worker

-- Owns everything; only `migrate` uses it. It grants the other two only the rights that they need.
CREATE ROLE :"migrate" LOGIN PASSWORD :'migrate_password';
CREATE ROLE :"api" LOGIN PASSWORD :'api_password';
CREATE ROLE :"worker" LOGIN PASSWORD :'worker_password';

SELECT current_database() AS database \gset
GRANT CONNECT ON DATABASE :"database" TO :"api", :"worker";
-- Keeps hanging processes from blocking others, plans from reading whole tables, and settings of the database or the
-- server from harming the processes; libs/runtime/src/database/roles.ts has the same.
SELECT format('ALTER ROLE %I IN DATABASE %I SET %s = %L', role, current_database(), name, value)
FROM unnest(ARRAY[:'api', :'worker']) AS role, (VALUES
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
WHERE needed.name IN (SELECT pg_settings.name FROM pg_settings) \gexec

\if :{?schema}
-- The first installation owns the database.
GRANT CONNECT, CREATE ON DATABASE :"database" TO :"migrate";
ALTER ROLE :"api" IN DATABASE :"database" SET search_path = :"schema";
ALTER ROLE :"worker" IN DATABASE :"database" SET search_path = :"schema";
\else
-- An administrator without superuser rights must be a member of a role to give it objects.
GRANT switchhook_migrate TO CURRENT_USER;
ALTER DATABASE :"database" OWNER TO switchhook_migrate;
REVOKE ALL ON DATABASE :"database" FROM PUBLIC;
REVOKE CREATE ON SCHEMA public FROM PUBLIC;
-- By default everybody may connect to the databases of every server, and fill its disk with temporary tables.
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
  -- Their owners close other databases: here, or in pg_hba.conf.
  FOR database IN
    SELECT datname FROM pg_database
    WHERE datallowconn AND datname <> current_database()
      AND has_database_privilege('switchhook_api', oid, 'CONNECT')
  LOOP
    RAISE NOTICE 'the processes may still connect to the database %', database;
  END LOOP;
END
$$;
-- Otherwise PostgreSQL would compile the statement of each event.
ALTER DATABASE :"database" SET jit = 'off';
GRANT ALL ON SCHEMA public TO switchhook_migrate;

-- The objects that an installation with a single role already has.
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
\endif
