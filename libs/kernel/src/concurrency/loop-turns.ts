import { RoundRobin } from '../collections/round-robin.js';

/** So many that going on with them all at once pays, although others wait for their turns. */
const MANY = 100;

/** Somebody for whom something waits. */
interface Party {
  name: string;
  waiting: (() => void)[];
}

/**
 * Begins one piece of work in each turn of the event loop; parties take turns. In between, the loop
 * serves whatever else has arrived, so much work of one party delays another's by little.
 */
export class LoopTurns {
  private readonly parties = new RoundRobin<string, Party>();
  private readonly resting: (() => void)[] = [];
  private isScheduled = false;

  /** Resolves when work for this party may begin. */
  next(name: string): Promise<void> {
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
    const { name, waiting } = this.parties.next()!;
    waiting.shift()!();
    if (waiting.length === 0) this.parties.remove(name);
    this.isScheduled = this.parties.size > 0;
    if (this.isScheduled) this.schedule();
    else this.endRest();
  }

  private endRest(): void {
    for (const resolve of this.resting.splice(0)) resolve();
  }
}
