import { prepared, statement } from '../database/statement.js';

/** A process of the installation. */
export interface ProcessRow {
  id: string;
  kind: string;
  version: string;
  startedAt: Date;
  seenAt: Date;
  /** Seconds since its last sign of life. */
  silentS: number;
  inFlight: number;
  /** Of one core, since the sign of life before; null from a process of an earlier version. */
  cpuPercent: number | null;
  /** The resident set; null from a process of an earlier version. */
  memoryBytes: number | null;
}

type SignOfLife = Pick<ProcessRow, 'id' | 'kind' | 'version' | 'inFlight'> & {
  cpuPercent: number;
  memoryBytes: number;
};

/** Also forgets processes that have been silent for an hour. */
export const SHOW_LIFE = prepared<SignOfLife>(
  'processes.show-life',
  `
WITH gone AS (
  DELETE FROM processes WHERE id = ANY (ARRAY(
    SELECT id FROM processes WHERE seen_at < now() - interval '1 hour' FOR UPDATE SKIP LOCKED
  ))
)
INSERT INTO processes (id, kind, version, in_flight, cpu_percent, memory_bytes)
VALUES (@id, @kind, @version, @inFlight::integer, @cpuPercent::integer, @memoryBytes::bigint)
ON CONFLICT (id) DO UPDATE SET seen_at = now(), in_flight = excluded.in_flight,
  cpu_percent = excluded.cpu_percent, memory_bytes = excluded.memory_bytes`,
);

export const FORGET_PROCESS = statement<{ id: string }>('DELETE FROM processes WHERE id = @id');

export const LIST_PROCESSES = statement<object, ProcessRow>(`
SELECT id, kind, version, started_at AS "startedAt", seen_at AS "seenAt", in_flight AS "inFlight",
  cpu_percent AS "cpuPercent", memory_bytes::float8 AS "memoryBytes",
  extract(epoch FROM now() - seen_at)::float8 AS "silentS"
FROM processes ORDER BY kind, started_at, id`);
