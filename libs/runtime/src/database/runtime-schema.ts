import { type DatabaseSchema, migrationOf } from './database-schema.js';

// UUIDv7 (RFC 9562): 48 bits of Unix milliseconds, 12 bits of the fraction of the millisecond,
// then a counter of 20 bits and 40 random bits. All ids of one statement share the first 60 bits,
// so the deliveries of an event lie in a short range of their own primary key.
const UUIDS = `
CREATE FUNCTION new_uuid(at timestamptz, counter bigint) RETURNS uuid
LANGUAGE sql VOLATILE PARALLEL SAFE
RETURN (
  lpad(to_hex((extract(epoch FROM at) * 1000000)::bigint / 1000), 12, '0')
  || '7' || lpad(to_hex((extract(epoch FROM at) * 1000000)::bigint % 1000 * 4), 3, '0')
  || '8' || lpad(to_hex(counter & 1048575), 5, '0')
  || right(gen_random_uuid()::text, 10)
)::uuid;

CREATE FUNCTION least_uuid(at timestamptz) RETURNS uuid
LANGUAGE sql STABLE PARALLEL SAFE
RETURN (
  lpad(to_hex(greatest((extract(epoch FROM at) * 1000)::bigint, 0)), 12, '0') || repeat('0', 20)
)::uuid;
`;

// The resources created by requests with an Idempotency-Key, so that a repeat creates nothing more.
// href: the resource's address; null only inside the transaction that creates it.
const IDEMPOTENCY_KEYS = `
CREATE TABLE idempotency_keys (
  account_id bigint NOT NULL,
  key text NOT NULL,
  fingerprint bytea NOT NULL,
  href text,
  created_at timestamptz NOT NULL DEFAULT now(),
  CONSTRAINT idempotency_keys_pkey PRIMARY KEY (account_id, key)
);
CREATE INDEX idempotency_keys_created_idx ON idempotency_keys (created_at);
`;

// The processes of the installation, by their last heartbeat.
const PROCESSES = `
CREATE TABLE processes (
  id text NOT NULL,
  kind text NOT NULL,
  version text NOT NULL,
  in_flight integer NOT NULL,
  started_at timestamptz NOT NULL DEFAULT now(),
  seen_at timestamptz NOT NULL DEFAULT now(),
  CONSTRAINT processes_pkey PRIMARY KEY (id)
) WITH (fillfactor = 50);
`;

/** The schema of version 1.1. */
export const initial = migrationOf('Runtime1763700000001', UUIDS, IDEMPOTENCY_KEYS, PROCESSES);

/** Processes of version 1.1 cannot work with what the later migrations change. A process that was killed counts for 35 s. */
const onlyWithoutProcesses = migrationOf(
  'OnlyWithoutProcesses1764050400009',
  `
DO $$
DECLARE
  running text := (
    SELECT string_agg(format('%s %s', kind, id), ', ') FROM processes WHERE seen_at > now() - interval '35 s'
  );
BEGIN
  IF running IS NOT NULL THEN
    RAISE EXCEPTION 'processes of an earlier version are running (%): stop them, and run migrate again', running;
  END IF;
END
$$`,
);

/** What each process uses of its machine. */
const processLoads = migrationOf(
  'ProcessLoads1764140400011',
  'ALTER TABLE processes ADD COLUMN cpu_percent integer, ADD COLUMN memory_bytes bigint',
);

/** Why a worker holds its deliveries, and since when; null while it does not. */
const processHolds = migrationOf(
  'ProcessHolds1764324000001',
  'ALTER TABLE processes ADD COLUMN hold_cause text, ADD COLUMN hold_since timestamptz',
);

/** What later versions list here because an older process would ignore what customers have set. */
const features = migrationOf(
  'Features1764324000002',
  'CREATE TABLE features (name text NOT NULL, CONSTRAINT features_pkey PRIMARY KEY (name))',
);

const COUNTED = 'seen_at, in_flight, cpu_percent, memory_bytes, hold_cause, hold_since';

export const runtimeSchema: DatabaseSchema = {
  migrations: [initial, onlyWithoutProcesses, processLoads, processHolds, features],
  tables: {
    // A process waits until its migrations are there.
    migrations: { api: 'SELECT', worker: 'SELECT' },
    features: { api: 'SELECT', worker: 'SELECT' },
    processes: {
      api: `SELECT, INSERT, DELETE, UPDATE (${COUNTED})`,
      worker: `SELECT, INSERT, DELETE, UPDATE (${COUNTED})`,
    },
    // The worker locks old keys to delete them, which needs the UPDATE privilege on some column.
    idempotency_keys: {
      api: 'SELECT, INSERT, UPDATE (fingerprint, href, created_at)',
      worker: 'SELECT, UPDATE (created_at), DELETE',
    },
  },
};
