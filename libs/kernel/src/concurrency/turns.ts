/** Lets some pieces of work run at once, in the order in which they came; the others wait. */
export class Turns {
  private running = 0;
  private readonly waiting: (() => void)[] = [];

  /** @param limits how many run at once, and how many may wait: by default any number */
  constructor(private readonly limits: { atOnce: number; waiting?: number }) {}

  /** @param refusal what is thrown when too many wait already */
  async run<Result>(
    work: () => Promise<Result>,
    refusal = () => new Error('too many wait'),
  ): Promise<Result> {
    const { atOnce, waiting = Infinity } = this.limits;
    if (this.running < atOnce) this.running += 1;
    else if (this.waiting.length >= waiting) throw refusal();
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
