/** A call that takes longer is slow, ms. */
const QUICK_MS = 1_000;
/** How much the latest call counts for the average. */
const LATEST = 1 / 8;
/** How long a delivery waits in the worker for an earlier call of its subscription to end, ms. */
const PATIENCE_MS = 500;

/**
 * What a worker knows of the calls to one subscription.
 *
 * Its cap on calls in flight begins at one, so that hundreds of subscriptions that hang do not take all
 * slots before it is known. It grows by one with each quick answer, as a connection of TCP does, up to
 * its bound; it shrinks with the average time that its calls take beyond a second, and by
 * half with each slow call that gets no answer, down to one.
 */
export class Subscription {
  /** Deliveries that wait for their call here, or are in flight. */
  places = 0;
  private calls = 0;
  private cap = 1;
  private averageMs: number | undefined;
  /** When a call ended last, or began while there was no other. */
  private progressAt = 0;
  private blockedAt = -Infinity;
  private readonly waiting: ((started: boolean) => void)[] = [];

  constructor(
    private readonly bound: number,
    private readonly now: () => number,
  ) {}

  /** Its calls take long, or one that is in flight does. */
  get isSlow(): boolean {
    const hangs = this.calls > 0 && this.now() - this.progressAt > QUICK_MS;
    return hangs || (this.averageMs ?? 0) > QUICK_MS;
  }

  /** It is known to answer quickly. */
  get isQuick(): boolean {
    return this.averageMs !== undefined && !this.isSlow;
  }

  /** Places that it may hold: as many waiting as in flight, so that it never runs dry, unless it is slow. */
  get most(): number {
    return this.isSlow ? this.cap : 2 * this.cap;
  }

  get isHungry(): boolean {
    return this.places < this.most && 2 * (this.places - this.cap) < this.cap;
  }

  async start(leasedAt: number): Promise<boolean> {
    if (leasedAt <= this.blockedAt) return false;
    if (this.calls >= this.cap) return this.started();
    this.startAtOnce();
    return true;
  }

  /** Nothing that was leased until now starts any more. */
  block(): void {
    this.blockedAt = this.now();
    this.stop();
  }

  startAtOnce(): void {
    if (this.calls === 0) this.progressAt = this.now();
    this.calls += 1;
  }

  end({ durationMs, answered }: { durationMs: number; answered: boolean }): void {
    this.calls -= 1;
    this.progressAt = this.now();
    this.averageMs ??= durationMs;
    this.averageMs += LATEST * (durationMs - this.averageMs);
    if (!answered && durationMs > QUICK_MS) this.cap = Math.ceil(this.cap / 2);
    else this.cap = Math.min(this.cap + 1, this.capByTime(this.averageMs));
    while (this.calls < this.cap && this.waiting.length > 0) {
      this.startAtOnce();
      this.waiting.shift()!(true);
    }
  }

  /** Nothing that waits starts any more. */
  stop(): void {
    for (const settle of this.waiting.splice(0)) settle(false);
  }

  /** So many calls that a quick one would have had all its bound at one a second. */
  private capByTime(averageMs: number): number {
    return Math.max(1, Math.floor(this.bound * Math.min(1, QUICK_MS / averageMs)));
  }

  private started(): Promise<boolean> {
    return new Promise((resolve) => {
      const settle = (started: boolean): void => {
        clearTimeout(timer);
        resolve(started);
      };
      const timer = setTimeout(() => {
        this.waiting.splice(this.waiting.indexOf(settle), 1);
        settle(false);
      }, PATIENCE_MS);
      this.waiting.push(settle);
    });
  }
}
