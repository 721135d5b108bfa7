import { isRowError, isTransient } from './database-errors.js';

interface Unit<Item, Result> {
  items: readonly Item[];
  weight: number;
  resolve: (results: Result[]) => void;
  reject: (error: unknown) => void;
}

/** For statements of which many follow each other under load; measured in docs/performance.md. */
export const PAUSE = { ms: 3, after: 8 };

/** The defaults suit statements that take about a millisecond. */
interface GroupCommitOptions<Item> {
  /** Maximum number of items in a batch, except for a single larger unit. */
  maxItems?: number;
  /** Maximum weight of a batch, in the unit of `weigh`. */
  maxWeight?: number;
  weigh?: (item: Item) => number;
  /** Maximum number of concurrent batches. Only a full batch starts beside another one. */
  atOnce?: number;
  /**
   * After a batch with at least `after` items, the next one waits up to `ms` for as many more: callers whose items are
   * done may soon bring others.
   */
  pause?: { ms: number; after: number };
  /** A batch that is not full waits `ms` for more items, and until it has `atLeast` of them, `longestMs`. */
  gather?: { ms: number; atLeast: number; longestMs: number };
}

const REPEATS = 3;

/**
 * Lets concurrent callers share one statement: while a batch is running, the next one fills up. Without
 * `gather`, a single caller waits at most for a pause. Only full batches run concurrently, because two at a time cost
 * PostgreSQL a seventh more work for each event at 1,200 events a second.
 *
 * After a transient failure (serialisation, deadlock) the batch is repeated. After an error that a single row may
 * have caused, it is split until only the faulty unit fails. Any other failure fails every unit in the batch.
 */
export class GroupCommit<Item, Result> {
  private readonly waiting: Unit<Item, Result>[] = [];
  private readonly options: Required<Omit<GroupCommitOptions<Item>, 'gather' | 'pause'>>;
  private readonly gathering: GroupCommitOptions<Item>['gather'];
  private readonly pausing: GroupCommitOptions<Item>['pause'];
  private waitingItems = 0;
  private waitingWeight = 0;
  private running = 0;
  private scheduled = false;
  /** During a pause, with how many waiting items it ends. */
  private pausesFor = 0;
  private pauseTimer: NodeJS.Timeout | undefined;
  /** Since when the next batch has been gathering items, and what ends that; not set anew for each item. */
  private gathersSince = NaN;
  private timer: NodeJS.Timeout | undefined;
  private timerEndsAt = NaN;

  constructor(
    private readonly execute: (items: readonly Item[]) => Promise<Result[]>,
    { gather, pause, ...options }: GroupCommitOptions<Item> = {},
  ) {
    this.gathering = gather;
    this.pausing = pause;
    this.options = { maxItems: 500, maxWeight: Infinity, weigh: () => 1, atOnce: 1, ...options };
  }

  /** Results in the order of the items. All items of one call are in the same statement. */
  run(items: readonly Item[]): Promise<Result[]> {
    return new Promise((resolve, reject) => {
      // First, because a failure here concerns this caller alone.
      const weight = this.weightOf(items);
      this.waiting.push({ items, weight, resolve, reject });
      this.waitingItems += items.length;
      this.waitingWeight += weight;
      if (this.gathering) this.gather(this.gathering);
      // Callers in the same event loop iteration share a batch, even if no other batch is running.
      else this.schedule();
    });
  }

  /** {@link run} for a single item. */
  async one(item: Item): Promise<Result> {
    const [result] = await this.run([item]);
    return result as Result;
  }

  private schedule(): void {
    if (this.scheduled) return;
    this.scheduled = true;
    setImmediate(() => {
      this.scheduled = false;
      this.pump();
    });
  }

  private gather(options: NonNullable<typeof this.gathering>): void {
    if (this.waiting.length === 0) return;
    const now = performance.now();
    if (Number.isNaN(this.gathersSince)) this.gathersSince = now;
    const isEnough = this.waitingItems >= options.atLeast;
    const endsAt = this.gathersSince + (isEnough ? options.ms : options.longestMs);
    if (this.isFull || now >= endsAt) {
      this.pump();
    } else if (endsAt !== this.timerEndsAt) {
      clearTimeout(this.timer);
      this.timerEndsAt = endsAt;
      this.timer = setTimeout(
        () => {
          this.timerEndsAt = NaN;
          this.gather(options);
        },
        Math.ceil(endsAt - now),
      );
    }
  }

  private pump(): void {
    while (this.mayStart()) {
      this.endPause();
      this.running += 1;
      const batch = this.nextBatch();
      void this.commit(batch, REPEATS).finally(() => {
        this.running -= 1;
        if (this.pausing) this.pause(this.pausing, batch);
        if (this.gathering) this.gather(this.gathering);
        else this.pump();
      });
    }
  }

  private pause({ ms, after }: NonNullable<typeof this.pausing>, batch: Unit<Item, Result>[]) {
    const count = batch.reduce((sum, { items }) => sum + items.length, 0);
    if (count < after) return;
    this.endPause();
    this.pausesFor = this.waitingItems + count;
    this.pauseTimer = setTimeout(() => {
      this.endPause();
      this.pump();
    }, ms);
  }

  private endPause(): void {
    this.pausesFor = 0;
    clearTimeout(this.pauseTimer);
  }

  private mayStart(): boolean {
    if (this.running > 0) return this.isFull && this.running < this.options.atOnce;
    return this.waiting.length > 0 && (this.isFull || this.waitingItems >= this.pausesFor);
  }

  private get isFull(): boolean {
    const { maxItems, maxWeight } = this.options;
    return this.waitingItems >= maxItems || this.waitingWeight >= maxWeight;
  }

  private nextBatch(): Unit<Item, Result>[] {
    let count = 0;
    let weight = 0;
    let units = 0;
    for (const unit of this.waiting) {
      const { maxItems, maxWeight } = this.options;
      const fits = count + unit.items.length <= maxItems && weight + unit.weight <= maxWeight;
      if (units > 0 && !fits) break;
      count += unit.items.length;
      weight += unit.weight;
      units += 1;
    }
    this.waitingItems -= count;
    this.waitingWeight -= weight;
    this.gathersSince = NaN;
    return this.waiting.splice(0, units);
  }

  private weightOf(items: readonly Item[]): number {
    let weight = 0;
    for (const item of items) weight += this.options.weigh(item);
    return weight;
  }

  private async commit(batch: Unit<Item, Result>[], repeats: number): Promise<void> {
    const items = batch.length === 1 ? batch[0]!.items : batch.flatMap((unit) => unit.items);
    try {
      const results = await this.execute(items);
      let at = 0;
      for (const unit of batch) {
        unit.resolve(results.slice(at, at + unit.items.length));
        at += unit.items.length;
      }
    } catch (error) {
      if (isTransient(error) && repeats > 0) return this.commit(batch, repeats - 1);
      if (isRowError(error) && batch.length > 1) {
        const half = batch.length >> 1;
        await this.commit(batch.slice(0, half), repeats);
        return this.commit(batch.slice(half), repeats);
      }
      for (const unit of batch) unit.reject(error);
    }
  }
}
