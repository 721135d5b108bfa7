/** Something that is read for everybody who asks, one read at a time, and again once the result is too old. */
export class SharedRead<Result> {
  private result: Promise<Result> | undefined;
  private readAt = -Infinity;

  constructor(
    private readonly maxAgeMs: number,
    private readonly read: () => Promise<Result>,
  ) {}

  get(): Promise<Result> {
    if (!this.result || performance.now() - this.readAt > this.maxAgeMs) {
      // However long it takes, it is shared: more reads at once would only be slower.
      this.readAt = Infinity;
      this.result = this.readNow();
    }
    return this.result;
  }

  private async readNow(): Promise<Result> {
    let readAt = -Infinity;
    try {
      const result = await this.read();
      readAt = performance.now();
      return result;
    } finally {
      this.readAt = readAt;
    }
  }
}
