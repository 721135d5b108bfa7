import { RoundRobin } from './collections.js';

/** Without a number there is no limit. */
interface SemaphoreLimits {
  atOnce: number;
  /** For each party. */
  atOnceOfOne?: number;
  /** For each party. */
  waitingOfOne?: number;
  waitMs?: number;
  /**
   * A party pauses after each piece of work: for its duration, as often as more than `unpaused` pieces (0 by default)
   * are waiting, but at most so often.
   */
  maxPauses?: number;
  unpaused?: number;
}

/** The longest pause, because work may be slow on account of others. */
const MAX_PAUSE_MS = 2_000;

/** A party with waiting work. */
interface Party {
  name: string;
  waiting: (() => void)[];
}

/** A semaphore that is fair to several parties: serves them round-robin, and each in the order of arrival. */
export class FairSemaphore {
  private readonly parties = new RoundRobin<string, Party>();
  private readonly runningOf = new Map<string, number>();
  private running = 0;

  /** @param refusal makes the error to throw when too much work is waiting, or a wait takes too long */
  constructor(
    private readonly limits: SemaphoreLimits,
    private readonly refusal = () => new Error('Too much work is waiting.'),
  ) {}

  /**
   * @param party on whose behalf the work is done
   * @param signal ends the wait with its reason; running work continues
   */
  async run<Result>(
    work: () => Promise<Result>,
    party = '',
    signal?: AbortSignal,
  ): Promise<Result> {
    signal?.throwIfAborted();
    if (this.mayBegin(party)) this.begin(party);
    else await this.waitForSlot(party, signal);
    const start = performance.now();
    try {
      return await work();
    } finally {
      this.running -= 1;
      const { maxPauses = 0, unpaused = 0 } = this.limits;
      const backlog = this.parties.get(party)?.waiting.length ?? 0;
      const pauses = Math.min(backlog - unpaused, maxPauses);
      if (pauses > 0) {
        const pauseMs = Math.min(pauses * (performance.now() - start), MAX_PAUSE_MS);
        setTimeout(() => this.end(party), pauseMs);
        this.beginNext();
      } else this.end(party);
    }
  }

  private mayBegin(party: string): boolean {
    const { atOnce, atOnceOfOne = Infinity } = this.limits;
    return this.running < atOnce && (this.runningOf.get(party) ?? 0) < atOnceOfOne;
  }

  private begin(party: string): void {
    this.running += 1;
    this.runningOf.set(party, (this.runningOf.get(party) ?? 0) + 1);
  }

  private end(party: string): void {
    const running = (this.runningOf.get(party) ?? 0) - 1;
    if (running > 0) this.runningOf.set(party, running);
    else this.runningOf.delete(party);
    this.beginNext();
  }

  private waitForSlot(name: string, signal?: AbortSignal): Promise<void> {
    const { waitingOfOne = Infinity, waitMs } = this.limits;
    const party = this.parties.get(name) ?? { name, waiting: [] };
    if (party.waiting.length >= waitingOfOne) throw this.refusal();
    this.parties.add(name, party);
    return new Promise((resolve, reject) => {
      const leave = (): void => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', abort);
        this.remove(party, begin);
      };
      const giveUp = (error: Error): void => {
        leave();
        reject(error);
      };
      const abort = (): void => giveUp(signal?.reason as Error);
      signal?.addEventListener('abort', abort);
      const timer =
        waitMs === undefined ? undefined : setTimeout(() => giveUp(this.refusal()), waitMs);
      const begin = (): void => {
        leave();
        // Synchronously, so that no later caller can overtake this one.
        this.begin(name);
        resolve();
      };
      party.waiting.push(begin);
    });
  }

  private remove({ name, waiting }: Party, begin: () => void): void {
    waiting.splice(waiting.indexOf(begin), 1);
    if (waiting.length === 0) this.parties.remove(name);
  }

  private beginNext(): void {
    for (let tries = this.parties.size; tries > 0; tries -= 1) {
      const party = this.parties.next();
      if (!party || !this.mayBegin(party.name)) continue;
      party.waiting[0]?.();
      return;
    }
  }
}
