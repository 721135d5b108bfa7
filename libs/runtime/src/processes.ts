import { type BeforeApplicationShutdown, Inject, Injectable } from '@nestjs/common';
import type { HoldCause } from '#libs/kernel';
import { BackgroundTasks } from './background-tasks.js';
import { Database } from './database/database.js';
import { prepared, statement } from './database/statement.js';
import { PROCESS_NAME } from './logging/log.js';
import { VERSION } from './config/version.js';
import { PROCESS_ID } from './process-identity.js';

/** A process of the installation. */
interface ProcessRow {
  id: string;
  kind: string;
  version: string;
  startedAt: Date;
  seenAt: Date;
  /** Seconds since its last heartbeat. */
  silentS: number;
  inFlight: number;
  /** Of one core, since the previous heartbeat; null from a process of an earlier version. */
  cpuPercent: number | null;
  /** The resident set; null from a process of an earlier version. */
  memoryBytes: number | null;
  /** Why this worker holds its deliveries, and since when; null if it does not. */
  holdCause: HoldCause | null;
  holdSince: Date | null;
}

/** Why a worker holds its deliveries, and since when. */
export interface HoldShown {
  cause: HoldCause;
  since: Date;
}

type Heartbeat = Pick<ProcessRow, 'id' | 'kind' | 'version' | 'inFlight'> & {
  cpuPercent: number;
  memoryBytes: number;
  holdCause: HoldCause | null;
  holdSince: string | null;
};

const EVERY_MS = 10_000;
/** A process that has been silent for so long is dead, frozen or cut off. */
const SILENT_S = 35;

/** Whether all workers that are alive hold their deliveries: a condition in SQL, whatever the row. */
export const ALL_WORKERS_HOLD = `(
    SELECT bool_and(hold_since IS NOT NULL) FROM processes
    WHERE kind = 'worker' AND seen_at > now() - interval '${SILENT_S} s'
  )`;

/** Also deletes processes that have been silent for an hour. */
export const WRITE_HEARTBEAT = prepared<Heartbeat>(
  'processes.heartbeat',
  `
WITH gone AS (
  DELETE FROM processes WHERE id = ANY (ARRAY(
    SELECT id FROM processes WHERE seen_at < now() - interval '1 hour' FOR UPDATE SKIP LOCKED
  ))
)
INSERT INTO processes (id, kind, version, in_flight, cpu_percent, memory_bytes, hold_cause, hold_since)
VALUES (@id, @kind, @version, @inFlight::integer, @cpuPercent::integer, @memoryBytes::bigint,
  @holdCause::text, @holdSince::timestamptz)
ON CONFLICT (id) DO UPDATE SET seen_at = excluded.seen_at, in_flight = excluded.in_flight,
  cpu_percent = excluded.cpu_percent, memory_bytes = excluded.memory_bytes,
  hold_cause = excluded.hold_cause, hold_since = excluded.hold_since`,
);

export const DELETE_PROCESS = statement<{ id: string }>('DELETE FROM processes WHERE id = @id');

export const LIST_PROCESSES = statement<object, ProcessRow>(`
SELECT id, kind, version, started_at AS "startedAt", seen_at AS "seenAt", in_flight AS "inFlight",
  cpu_percent AS "cpuPercent", memory_bytes::float8 AS "memoryBytes", hold_cause AS "holdCause",
  hold_since AS "holdSince",
  extract(epoch FROM now() - seen_at)::float8 AS "silentS"
FROM processes ORDER BY kind, started_at, id`);

export type Process = Omit<ProcessRow, 'silentS' | 'holdCause' | 'holdSince'> & {
  isAlive: boolean;
  hold?: HoldShown;
};

/** The processes of the installation. Each writes a heartbeat every ten seconds. */
@Injectable()
export class Processes implements BeforeApplicationShutdown {
  /** Why and since when this process holds its deliveries, if it does. */
  hold: HoldShown | undefined;
  private inFlight: () => number = () => 0;
  private used = process.cpuUsage();
  private usedAt = performance.now();

  constructor(
    tasks: BackgroundTasks,
    private readonly database: Database,
    @Inject(PROCESS_NAME) private readonly kind: string,
  ) {
    tasks.add('processes', { everyMs: EVERY_MS }, () => this.writeHeartbeat());
  }

  /** @param inFlight how many deliveries this process is attempting */
  count(inFlight: () => number): void {
    this.inFlight = inFlight;
  }

  async list(): Promise<Process[]> {
    const rows = await this.database.run(LIST_PROCESSES);
    return rows.map(({ silentS, holdCause: cause, holdSince: since, ...row }) => ({
      ...row,
      isAlive: silentS < SILENT_S,
      ...(cause && since && { hold: { cause, since } }),
    }));
  }

  /** Runs after the background tasks have ended. */
  async beforeApplicationShutdown(): Promise<void> {
    // If PostgreSQL is unavailable, other processes delete this one later.
    await this.database.run(DELETE_PROCESS, { id: PROCESS_ID }).catch(() => undefined);
  }

  private async writeHeartbeat(): Promise<void> {
    const { kind, inFlight } = this;
    const cpuPercent = this.cpuPercent();
    const memoryBytes = process.memoryUsage.rss();
    const values = { id: PROCESS_ID, kind, version: VERSION, inFlight: inFlight() };
    const hold = {
      holdCause: this.hold?.cause ?? null,
      holdSince: this.hold?.since.toISOString() ?? null,
    };
    await this.database.run(WRITE_HEARTBEAT, { ...values, ...hold, cpuPercent, memoryBytes });
  }

  /** Of one core, since the last call. */
  private cpuPercent(): number {
    const { user, system } = process.cpuUsage(this.used);
    const now = performance.now();
    const usedMs = (user + system) / 1_000;
    const percent = Math.round((usedMs / Math.max(now - this.usedAt, 1)) * 100);
    this.used = process.cpuUsage();
    this.usedAt = now;
    return percent;
  }
}
