import { Injectable } from '@nestjs/common';
import { BackgroundTasks } from '../background-tasks.js';
import { Log } from '../logging/log.js';
import { Metrics } from '../telemetry/metrics.js';
import { Database } from './database.js';
import { WAITS_FOR_STANDBY } from './needed-settings.js';
import { PostgresHosts } from './postgres-hosts.js';
import { prepared, type NoValues } from './statement.js';

/** How long a process may continue to write to an old primary that it still reaches. */
const EVERY_MS = 5_000;

interface State {
  isSynchronous: boolean;
  /** Unix time. */
  clockS: number;
}

export const DATABASE_STATE = prepared<NoValues, State>(
  'database.state',
  `
SELECT ${WAITS_FOR_STANDBY} AS "isSynchronous",
  extract(epoch FROM clock_timestamp())::float8 AS "clockS"`,
);

/**
 * Looks every five seconds at what can become wrong with PostgreSQL while statements still succeed: another host takes
 * writes as well, commits no longer wait for a standby, or the clocks differ. Metrics tell, and alerts fire on them.
 */
@Injectable()
export class DatabaseWatch {
  private state: { isSynchronous: boolean; aheadS: number } | undefined;
  private logged: string | undefined;

  constructor(
    private readonly database: Database,
    private readonly hosts: PostgresHosts,
    private readonly log: Log,
    tasks: BackgroundTasks,
    metrics: Metrics,
  ) {
    const known = () => {
      if (this.state === undefined) throw new Error('PostgreSQL has not answered');
      return this.state;
    };
    metrics.gauge(
      'switchhook_database_primaries',
      'Hosts of DATABASE_URL that take writes.',
      () => hosts.primaries ?? (known(), 1),
      'max',
    );
    metrics.gauge(
      'switchhook_database_synchronous',
      'Whether commits wait for a standby.',
      () => Number(known().isSynchronous),
      'min',
    );
    metrics.gauge(
      'switchhook_clock_offset_seconds',
      'How far the clock of the process is ahead of that of PostgreSQL.',
      () => known().aheadS,
      'max',
    );
    tasks.add('database-watch', { everyMs: EVERY_MS }, () => this.look());
  }

  private async look(): Promise<void> {
    this.state = undefined;
    await this.hosts.ask();
    this.logOnce(this.hosts.conflict);
    const startedAt = Date.now();
    const [state] = await this.database.run(DATABASE_STATE);
    if (!state) return;
    // PostgreSQL read its clock at some time in between.
    const nowS = (startedAt + Date.now()) / 2_000;
    this.state = { isSynchronous: state.isSynchronous, aheadS: nowS - state.clockS };
  }

  private logOnce(reason: string | undefined): void {
    if (reason !== undefined && reason !== this.logged) {
      this.log.error({ reason }, 'several hosts of PostgreSQL take writes');
    }
    this.logged = reason;
  }
}
