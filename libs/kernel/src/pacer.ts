import { Sharing } from './sharing.js';

/** From this many parties on, those that would not have to wait are forgotten. */
const MOST_PARTIES = 1_000;

/**
 * Spaces what busy parties begin, so that a process that several share does not fall behind: a party may begin `burst`
 * pieces of work at once, and further ones `everyMs` apart. A single party never waits.
 */
export class Pacer {
  private readonly sharing = new Sharing();
  /** When the next piece of a party could begin without a burst. */
  private readonly nextAt = new Map<string, number>();

  /** @param now ms of a monotonic clock */
  constructor(
    private readonly everyMs: number,
    private readonly burst: number,
    private readonly now: () => number = () => performance.now(),
  ) {}

  /** @returns for how many ms the next piece of work of a party must wait */
  delayOf(party: string): number {
    const now = this.now();
    if (!this.sharing.note(party, now)) {
      this.nextAt.clear();
      return 0;
    }
    const at = Math.max(this.nextAt.get(party) ?? 0, now);
    this.nextAt.set(party, at + this.everyMs);
    if (this.nextAt.size > MOST_PARTIES) this.forgetIdle(now);
    return Math.max(0, at - now - (this.burst - 1) * this.everyMs);
  }

  private forgetIdle(now: number): void {
    for (const [party, at] of this.nextAt) if (at <= now) this.nextAt.delete(party);
  }
}
