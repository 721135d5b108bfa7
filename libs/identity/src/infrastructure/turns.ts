/** Lets a few pieces of work run at once, in the order in which they came, and a bounded number wait. */
export class Turns {
  private running = 0;
  private readonly waiting: (() => void)[] = [];

  constructor(private readonly limits: { atOnce: number; waiting: number }) {}

  /** @param refusal what is thrown when too many wait already */
  async run<Result>(work: () => Promise<Result>, refusal: () => Error): Promise<Result> {
    if (this.running < this.limits.atOnce) this.running += 1;
    else if (this.waiting.length >= this.limits.waiting) throw refusal();
    else await new Promise<void>((resolve) => this.waiting.push(resolve));
    try {
      return await work();
    } finally {
      // The turn is handed on, so nobody who comes now can take it from those who wait.
      const next = this.waiting.shift();
      if (next) next();
      else this.running -= 1;
    }
  }
}
