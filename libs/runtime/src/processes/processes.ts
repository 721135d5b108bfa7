import { type BeforeApplicationShutdown, Inject, Injectable } from '@nestjs/common';
import { BackgroundTasks } from '../background/background-tasks.js';
import { Database } from '../database/database.js';
import { PROCESS_NAME } from '../logging/log.js';
import { VERSION } from '../version.js';
import { PROCESS_ID } from './process-id.js';
import {
  FORGET_PROCESS,
  LIST_PROCESSES,
  type ProcessRow,
  SHOW_LIFE,
} from './process.statements.js';

const EVERY_MS = 10_000;
/** A process that has been silent for so long is dead, frozen or cut off. */
const SILENT_S = 35;

export type Process = Omit<ProcessRow, 'silentS'> & { isAlive: boolean };

/** The processes of the installation. Each shows every ten seconds that it is alive. */
@Injectable()
export class Processes implements BeforeApplicationShutdown {
  private inFlight: () => number = () => 0;
  private used = process.cpuUsage();
  private usedAt = performance.now();

  constructor(
    tasks: BackgroundTasks,
    private readonly database: Database,
    @Inject(PROCESS_NAME) private readonly kind: string,
  ) {
    tasks.add('processes', { everyMs: EVERY_MS }, () => this.showLife());
  }

  /** @param inFlight how many deliveries this process is attempting */
  count(inFlight: () => number): void {
    this.inFlight = inFlight;
  }

  async list(): Promise<Process[]> {
    const rows = await this.database.run(LIST_PROCESSES);
    return rows.map(({ silentS, ...row }) => ({ ...row, isAlive: silentS < SILENT_S }));
  }

  /** The background tasks have ended by then. */
  async beforeApplicationShutdown(): Promise<void> {
    // If PostgreSQL is away, others forget this process.
    await this.database.run(FORGET_PROCESS, { id: PROCESS_ID }).catch(() => undefined);
  }

  private async showLife(): Promise<void> {
    const { kind, inFlight } = this;
    const cpuPercent = this.cpuPercent();
    const memoryBytes = process.memoryUsage.rss();
    const values = { id: PROCESS_ID, kind, version: VERSION, inFlight: inFlight() };
    await this.database.run(SHOW_LIFE, { ...values, cpuPercent, memoryBytes });
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
