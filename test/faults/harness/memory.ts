import type { ServiceProcess } from '../../support/service-process.js';

const EVERY_MS = 500;
/** Growth during this warm-up does not count. */
const WARM_AFTER_MS = 8_000;

/** Watches the resident memory of processes. */
export class MemoryWatch {
  /** The highest memory of any process, in MB. */
  peak = 0;
  /** The largest growth of any process after warm-up, in MB. */
  growth = 0;
  private readonly warm = new Map<ServiceProcess, { startedAt: number; least: number }>();
  private readonly timer: NodeJS.Timeout;

  constructor(private readonly processes: readonly ServiceProcess[]) {
    this.timer = setInterval(() => this.look(), EVERY_MS);
  }

  stop(): void {
    clearInterval(this.timer);
  }

  private look(): void {
    for (const process of this.processes) {
      const memory = process.memory();
      if (Number.isNaN(memory)) continue;
      this.peak = Math.max(this.peak, memory);
      if (Date.now() - process.startedAt < WARM_AFTER_MS) continue;
      const { startedAt } = process;
      const known = this.warm.get(process);
      const least = known?.startedAt === startedAt ? Math.min(known.least, memory) : memory;
      this.warm.set(process, { startedAt, least });
      this.growth = Math.max(this.growth, memory - least);
    }
  }
}
