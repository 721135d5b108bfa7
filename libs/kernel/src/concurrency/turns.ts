/** How many run at once; how many may wait, and for how long: by default any number, for ever. */
export interface TurnLimits {
  atOnce: number;
  waiting?: number;
  waitMs?: number;
}

/** Lets some pieces of work run at once, in the order in which they came; the others wait. */
export class Turns {
  private running = 0;
  private readonly waiting: (() => void)[] = [];

  constructor(private readonly limits: TurnLimits) {}

  /** @param refusal what is thrown when too many wait already, and after too long a wait */
  async run<Result>(
    work: () => Promise<Result>,
    refusal = () => new Error('too many wait'),
  ): Promise<Result> {
    const { atOnce, waiting = Infinity } = this.limits;
    if (this.running < atOnce) this.running += 1;
    else if (this.waiting.length >= waiting) throw refusal();
    else await this.turn(refusal);
    try {
      return await work();
    } finally {
      // The turn is handed on, so nobody who comes now can take it from those who wait.
      const next = this.waiting.shift();
      if (next) next();
      else this.running -= 1;
    }
  }

  private turn(refusal: () => Error): Promise<void> {
    const { waitMs } = this.limits;
    return new Promise((resolve, reject) => {
      const giveUp = (): void => {
        this.waiting.splice(this.waiting.indexOf(begin), 1);
        reject(refusal());
      };
      const timer = waitMs === undefined ? undefined : setTimeout(giveUp, waitMs);
      const begin = (): void => {
        clearTimeout(timer);
        resolve();
      };
      this.waiting.push(begin);
    });
  }
}
