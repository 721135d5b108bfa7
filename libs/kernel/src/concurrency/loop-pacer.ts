import { RoundRobin } from '../collections/round-robin.js';

/** Pieces of work that begin in a turn: with one a busy worker does a fifth less, with four others wait longer. */
const FEW = 2;
/** So many that going on with them all at once pays, although others wait for their turns. */
const MANY = 100;
/** After that, ms, somebody who was the only one lately has all turns. */
const ALONE_AFTER_MS = 1_000;

/** Somebody for whom something waits. */
interface Party {
  name: string;
  waiting: (() => void)[];
}

/**
 * Begins few pieces of work in each turn of the event loop while several parties have some; they take
 * turns. In between, the loop serves whatever else has arrived, so much work of one party delays another's
 * by little. A party that is alone need not wait: there is nobody to delay.
 */
export class LoopPacer {
  private readonly parties = new RoundRobin<string, Party>();
  private readonly resting: (() => void)[] = [];
  private latest: string | undefined;
  private sharedUntil = -Infinity;
  private isScheduled = false;

  /** @param now ms, of a clock that never goes back */
  constructor(private readonly now: () => number = () => performance.now()) {}

  /** Resolves when work for this party may begin. */
  next(name: string): Promise<void> {
    const now = this.now();
    this.latest ??= name;
    if (name !== this.latest) {
      this.latest = name;
      this.sharedUntil = now + ALONE_AFTER_MS;
    }
    if (now >= this.sharedUntil && !this.isScheduled) return Promise.resolve();
    return new Promise((resolve) => {
      const party = this.parties.get(name);
      if (party) party.waiting.push(resolve);
      else this.parties.add(name, { name, waiting: [resolve] });
      if (!this.isScheduled) this.schedule();
    });
  }

  /** Resolves when nothing waits for its turn, or many wait for this. */
  rest(): Promise<void> {
    if (!this.isScheduled) return Promise.resolve();
    return new Promise((resolve) => {
      this.resting.push(resolve);
      if (this.resting.length >= MANY) this.endRest();
    });
  }

  private schedule(): void {
    this.isScheduled = true;
    setImmediate(() => this.begin());
  }

  private begin(): void {
    for (let left = FEW; left > 0 && this.parties.size > 0; left -= 1) {
      const { name, waiting } = this.parties.next()!;
      waiting.shift()!();
      if (waiting.length === 0) this.parties.remove(name);
    }
    this.isScheduled = this.parties.size > 0;
    if (this.isScheduled) this.schedule();
    else this.endRest();
  }

  private endRest(): void {
    for (const resolve of this.resting.splice(0)) resolve();
  }
}
