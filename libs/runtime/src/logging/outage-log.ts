import type { Log } from './log.js';

/** Logs when what we need goes away and when it is back: a line for each, however many notice it. */
export class OutageLog {
  private lastAwayAt: number | undefined;

  /** @param steadyMs without a failure for so long it is back: one that is short of something comes and goes */
  constructor(
    private readonly needed: 'PostgreSQL' | 'Redis' | 'the egress proxy',
    private readonly log: Log,
    private readonly steadyMs = 0,
  ) {}

  away(error?: unknown): void {
    if (this.lastAwayAt === undefined) {
      this.log.warn({ ...(error !== undefined && { err: error }) }, `${this.needed} is away`);
    }
    this.lastAwayAt = performance.now();
  }

  back(): void {
    if (this.lastAwayAt === undefined) return;
    if (performance.now() - this.lastAwayAt < this.steadyMs) return;
    this.lastAwayAt = undefined;
    this.log.info({}, `${this.needed} is back`);
  }
}
