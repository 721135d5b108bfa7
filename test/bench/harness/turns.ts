/** Lets only one of several programs run at a time. They pass the turn to each other between their measurements. */
export class Turns {
  private readonly waiting: (() => void)[] = [];
  private isTaken = false;

  /** Runs a program when it gets the turn. */
  async run<Result>(program: () => Promise<Result>): Promise<Result> {
    if (this.isTaken) await this.turn();
    this.isTaken = true;
    try {
      return await program();
    } finally {
      this.give();
    }
  }

  /** Lets those that wait run until it is the caller's turn again. */
  async pass(): Promise<void> {
    if (this.waiting.length === 0) return;
    const turn = this.turn();
    this.give();
    await turn;
  }

  private turn(): Promise<void> {
    return new Promise((resolve) => this.waiting.push(resolve));
  }

  private give(): void {
    const next = this.waiting.shift();
    if (next) next();
    else this.isTaken = false;
  }
}

/** Of the scenarios of this run. */
export const turns = new Turns();
