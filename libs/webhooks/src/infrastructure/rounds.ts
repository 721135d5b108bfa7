import type { Turns } from '#libs/kernel';

/** However long a round took, the next one comes after this, or when it is due. */
const LONGEST_PAUSE_MS = 5_000;

/** How often {@link Rounds} come. */
export interface RoundsOptions {
  /** At least so often, if their share allows. */
  everyMs: number;
  /** The part of the time that rounds may take, as long as that keeps none waiting for long. */
  share: number;
  /** Shared by rounds that must not run at once; waiting for a turn is not counted as their time. */
  turns?: Turns;
}

/** Does the same work again and again, one round after the other. */
export class Rounds {
  private running = false;
  private timer: NodeJS.Timeout | undefined;
  private current: Promise<void> = Promise.resolve();
  /** A round may come from then on; undefined while one is under way. */
  private pauseEnds: number | undefined = 0;
  private hastened = false;

  /** @param work must not reject */
  constructor(
    private readonly work: () => Promise<void>,
    private readonly options: RoundsOptions,
  ) {}

  start(): void {
    this.running = true;
    this.schedule(0);
  }

  /** There is work already: the next round comes as soon as the share of the time allows. */
  soon(): void {
    if (this.hastened || !this.running) return;
    this.hastened = true;
    if (this.pauseEnds === undefined) return;
    this.schedule(Math.max(0, this.pauseEnds - performance.now()));
  }

  /** Ends after the round that is under way. */
  async stop(): Promise<void> {
    this.running = false;
    clearTimeout(this.timer);
    await this.current;
  }

  private schedule(delayMs: number): void {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => {
      this.current = this.round();
    }, delayMs);
  }

  private async round(): Promise<void> {
    this.pauseEnds = undefined;
    const took = await this.timed();
    const { everyMs, share } = this.options;
    const pause = Math.min(took / share - took, LONGEST_PAUSE_MS);
    this.pauseEnds = performance.now() + pause;
    if (this.running) this.schedule(this.hastened ? pause : Math.max(everyMs, pause));
  }

  /** @returns how long the work took, in ms */
  private async timed(): Promise<number> {
    const work = async () => {
      this.hastened = false;
      const start = performance.now();
      await this.work();
      return performance.now() - start;
    };
    return this.options.turns ? this.options.turns.run(work) : work();
  }
}
