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
}

/** Also forgets processes that have been silent for an hour. */
export const SHOW_LIFE = prepared<{ id: string; kind: string; version: string; inFlight: number }>(
  'processes.show-life',
  `
WITH gone AS (
  DELETE FROM processes WHERE id = ANY (ARRAY(
    SELECT id FROM processes WHERE seen_at < now() - interval '1 hour' FOR UPDATE SKIP LOCKED
  ))
)
INSERT INTO processes (id, kind, version, in_flight) VALUES (@id, @kind, @version, @inFlight::integer)
ON CONFLICT (id) DO UPDATE SET seen_at = now(), in_flight = excluded.in_flight`,
);

export const FORGET_PROCESS = statement<{ id: string }>('DELETE FROM processes WHERE id = @id');

export const LIST_PROCESSES = statement<object, ProcessRow>(`
SELECT id, kind, version, started_at AS "startedAt", seen_at AS "seenAt", in_flight AS "inFlight",
  extract(epoch FROM now() - seen_at)::float8 AS "silentS"
FROM processes ORDER BY kind, started_at, id`);
