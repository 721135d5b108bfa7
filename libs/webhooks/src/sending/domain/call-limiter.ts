/** Calls that take longer than this, in ms, are slow. */
const QUICK_MS = 1_000;
/** Weight of the latest call in the average. */
const LATEST = 1 / 8;
/** How long a delivery waits in the worker for an earlier call to the same subscription to end, in ms. */
const MAX_WAIT_MS = 500;

/** How a call ended. `answered`: whether the target answered at all. */
export interface Call {
  durationMs: number;
  answered: boolean;
}

/**
 * Limits a worker's concurrent calls to one subscription, by how quickly its target answers.
 *
 * The cap on calls in flight starts at one, so that hundreds of hanging subscriptions cannot take all
 * slots before they are known to hang. It grows by one with each quick answer, like a TCP congestion
 * window, up to its bound. It shrinks as the average duration exceeds one second, and is halved by each
 * slow call without an answer, down to one.
 */
export class CallLimiter {
  /** Slots of deliveries to this subscription, whether they wait for their call or are in flight. */
  slots = 0;
  private calls = 0;
  private cap = 1;
  private averageMs: number | undefined;
  /** When a call last ended, or began while no other was in flight. */
  private progressAt = 0;
  private blockedAt = -Infinity;
  private readonly waiting: ((started: boolean) => void)[] = [];

  constructor(
    private readonly bound: number,
    private readonly now: () => number,
  ) {}

  /** Its calls are slow on average, or its calls in flight make no progress. */
  get isSlow(): boolean {
    const hangs = this.calls > 0 && this.now() - this.progressAt > QUICK_MS;
    return hangs || (this.averageMs ?? 0) > QUICK_MS;
  }

  get isQuick(): boolean {
    return this.averageMs !== undefined && !this.isSlow;
  }

  /** Slots left of its limit: as many deliveries may wait as are in flight, but none if it is slow. */
  get room(): number {
    return (this.isSlow ? this.cap : 2 * this.cap) - this.slots;
  }

  /** Fewer deliveries wait than half of the cap. */
  get wantsMore(): boolean {
    return this.room > 0 && 2 * (this.slots - this.cap) < this.cap;
  }

  /** @returns whether the call may start; false after {@link MAX_WAIT_MS}, or if blocked since `leasedAt` */
  async start(leasedAt: number): Promise<boolean> {
    if (leasedAt <= this.blockedAt) return false;
    if (this.calls >= this.cap) return this.wait();
    this.startAtOnce();
    return true;
  }

  /** Prevents the start of deliveries leased up to now. */
  block(): void {
    this.blockedAt = this.now();
    this.stop();
  }

  startAtOnce(): void {
    if (this.calls === 0) this.progressAt = this.now();
    this.calls += 1;
  }

  /** @param call absent if it says nothing about the target */
  end(call: Call | undefined): void {
    this.calls -= 1;
    if (call) this.adapt(call);
    while (this.calls < this.cap && this.waiting.length > 0) {
      this.startAtOnce();
      this.waiting.shift()!(true);
    }
  }

  /** Prevents the start of waiting deliveries. */
  stop(): void {
    for (const settle of this.waiting.splice(0)) settle(false);
  }

  private adapt({ durationMs, answered }: Call): void {
    this.progressAt = this.now();
    this.averageMs ??= durationMs;
    this.averageMs += LATEST * (durationMs - this.averageMs);
    if (!answered && durationMs > QUICK_MS) this.cap = Math.ceil(this.cap / 2);
    else this.cap = Math.min(this.cap + 1, this.capByTime(this.averageMs));
  }

  /** The full bound for calls up to a second; beyond that, inversely proportional to the average. */
  private capByTime(averageMs: number): number {
    return Math.max(1, Math.floor(this.bound * Math.min(1, QUICK_MS / averageMs)));
  }

  private wait(): Promise<boolean> {
    return new Promise((resolve) => {
      const settle = (started: boolean): void => {
        clearTimeout(timer);
        resolve(started);
      };
      const timer = setTimeout(() => {
        this.waiting.splice(this.waiting.indexOf(settle), 1);
        settle(false);
      }, MAX_WAIT_MS);
      this.waiting.push(settle);
    });
  }
}
