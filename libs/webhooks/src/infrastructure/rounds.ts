/** However long a round took, the next one comes after this, or when it is due. */
const LONGEST_PAUSE_MS = 5_000;

/** How often {@link Rounds} come. */
export interface RoundsOptions {
  everyMs: number;
  /** The part of the time that rounds may take, as long as that keeps none waiting for long. */
  share: number;
}

/** Does the same work again and again, one round after the other. */
export class Rounds {
  private running = false;
  private timer: NodeJS.Timeout | undefined;
  private current: Promise<void> = Promise.resolve();

  /** @param work must not reject */
  constructor(
    private readonly work: () => Promise<void>,
    private readonly options: RoundsOptions,
  ) {}

  start(): void {
    this.running = true;
    this.schedule(0);
  }

  /** Ends after the round that is under way. */
  async stop(): Promise<void> {
    this.running = false;
    clearTimeout(this.timer);
    await this.current;
  }

  private schedule(delayMs: number): void {
    this.timer = setTimeout(() => {
      this.current = this.round();
    }, delayMs);
  }

  private async round(): Promise<void> {
    const start = performance.now();
    await this.work();
    if (!this.running) return;
    const took = performance.now() - start;
    const { everyMs, share } = this.options;
    this.schedule(Math.max(everyMs, Math.min(took / share - took, LONGEST_PAUSE_MS)));
  }
}
