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
      this.result = this.read().then(
        (result) => {
          this.readAt = performance.now();
          return result;
        },
        (error: unknown) => {
          this.readAt = -Infinity;
          throw error;
        },
      );
    }
    return this.result;
  }
}
