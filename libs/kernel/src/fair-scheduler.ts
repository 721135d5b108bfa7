import { RoundRobin } from './collections.js';
import { Sharing } from './sharing.js';

/** Pieces begun in each loop iteration: 1 costs a busy worker a fifth of its rate; 4 makes others wait longer. */
const BEGIN_PER_LOOP = 2;
/** From this many resting callers on, resuming all of them pays, even while other work is waiting. */
const MAX_RESTING = 100;

/** A party with waiting work. */
interface Party {
  name: string;
  waiting: (() => void)[];
}

/**
 * While several parties have work, begins a few pieces of it in each iteration of the event loop, round-robin,
 * so that a busy party delays others only a little. A single party never waits.
 */
export class FairScheduler {
  private readonly parties = new RoundRobin<string, Party>();
  private readonly resting: (() => void)[] = [];
  private readonly sharing = new Sharing();
  private isScheduled = false;

  /** @param now ms of a monotonic clock */
  constructor(private readonly now: () => number = () => performance.now()) {}

  /** Resolves when work for this party may begin. */
  next(name: string): Promise<void> {
    const isShared = this.sharing.note(name, this.now());
    if (!isShared && !this.isScheduled) return Promise.resolve();
    return new Promise((resolve) => {
      const party = this.parties.get(name);
      if (party) party.waiting.push(resolve);
      else this.parties.add(name, { name, waiting: [resolve] });
      if (!this.isScheduled) this.schedule();
    });
  }

  /** Resolves when no work is waiting, or when many callers are resting. */
  rest(): Promise<void> {
    if (!this.isScheduled) return Promise.resolve();
    return new Promise((resolve) => {
      this.resting.push(resolve);
      if (this.resting.length >= MAX_RESTING) this.endRest();
    });
  }

  private schedule(): void {
    this.isScheduled = true;
    setImmediate(() => this.begin());
  }

  private begin(): void {
    for (let left = BEGIN_PER_LOOP; left > 0 && this.parties.size > 0; left -= 1) {
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
