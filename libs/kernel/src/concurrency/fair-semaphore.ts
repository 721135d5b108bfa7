import { RoundRobin } from '../collections/round-robin.js';

/** How much runs at once, and how much may wait and for how long: without a number any, for ever. */
export interface SemaphoreLimits {
  atOnce: number;
  /** Of one party. */
  atOnceOfOne?: number;
  /** Of one party. */
  waitingOfOne?: number;
  waitMs?: number;
  /** How many times as long as a piece of work took its party pauses after it, while it has more waiting. */
  rest?: number;
}

/** Somebody for whom something waits. */
interface Party {
  name: string;
  waiting: (() => void)[];
}

/**
 * Lets some pieces of work run at once. The others wait: parties take turns, and what is done for one
 * begins in the order in which it came.
 */
export class FairSemaphore {
  private readonly parties = new RoundRobin<string, Party>();
  private readonly runningOf = new Map<string, number>();
  private running = 0;

  /** @param refusal what is thrown when too much waits already, and after too long a wait */
  constructor(
    private readonly limits: SemaphoreLimits,
    private readonly refusal = () => new Error('too much waits'),
  ) {}

  /** @param party whom it is done for */
  async run<Result>(work: () => Promise<Result>, party = ''): Promise<Result> {
    if (this.mayBegin(party)) this.begin(party);
    else await this.turn(party);
    const start = performance.now();
    try {
      return await work();
    } finally {
      this.running -= 1;
      const { rest } = this.limits;
      if (rest !== undefined && this.parties.get(party)) {
        setTimeout(() => this.end(party), rest * (performance.now() - start));
        this.beginNext();
      } else this.end(party);
    }
  }

  private mayBegin(party: string): boolean {
    const { atOnce, atOnceOfOne = Infinity } = this.limits;
    return this.running < atOnce && (this.runningOf.get(party) ?? 0) < atOnceOfOne;
  }

  private begin(party: string): void {
    this.running += 1;
    this.runningOf.set(party, (this.runningOf.get(party) ?? 0) + 1);
  }

  private end(party: string): void {
    const running = (this.runningOf.get(party) ?? 0) - 1;
    if (running > 0) this.runningOf.set(party, running);
    else this.runningOf.delete(party);
    this.beginNext();
  }

  private turn(name: string): Promise<void> {
    const { waitingOfOne = Infinity, waitMs } = this.limits;
    const party = this.parties.get(name) ?? { name, waiting: [] };
    if (party.waiting.length >= waitingOfOne) throw this.refusal();
    this.parties.add(name, party);
    return new Promise((resolve, reject) => {
      const giveUp = (): void => {
        this.remove(party, begin);
        reject(this.refusal());
      };
      const timer = waitMs === undefined ? undefined : setTimeout(giveUp, waitMs);
      const begin = (): void => {
        clearTimeout(timer);
        this.remove(party, begin);
        // Before anybody else can come, who would overtake it.
        this.begin(name);
        resolve();
      };
      party.waiting.push(begin);
    });
  }

  private remove({ name, waiting }: Party, begin: () => void): void {
    waiting.splice(waiting.indexOf(begin), 1);
    if (waiting.length === 0) this.parties.remove(name);
  }

  private beginNext(): void {
    for (let tries = this.parties.size; tries > 0; tries -= 1) {
      const party = this.parties.next();
      if (!party || !this.mayBegin(party.name)) continue;
      party.waiting[0]?.();
      return;
    }
  }
}
