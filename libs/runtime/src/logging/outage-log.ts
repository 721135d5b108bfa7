import type { Log } from './log.js';

/** Logs one line when a dependency becomes unavailable and one when it is back, for all callers. */
export class OutageLog {
  private lastAwayAt: number | undefined;

  /** @param steadyMs time without a failure until it counts as back; an overloaded one fails on and off */
  constructor(
    private readonly dependency:
      'PostgreSQL' | 'Redis' | 'the egress proxy' | 'the network of this host',
    private readonly log: Log,
    private readonly steadyMs = 0,
  ) {}

  away(error: unknown): void {
    if (this.lastAwayAt === undefined) {
      this.log.warn({ err: error }, `${this.dependency} is away`);
    }
    this.lastAwayAt = performance.now();
  }

  back(): void {
    if (this.lastAwayAt === undefined) return;
    if (performance.now() - this.lastAwayAt < this.steadyMs) return;
    this.lastAwayAt = undefined;
    this.log.info({}, `${this.dependency} is back`);
  }
}
