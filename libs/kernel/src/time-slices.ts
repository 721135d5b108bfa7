import { RoundRobin } from './collections.js';

/** How long this work may block the event loop before other work runs, in ms. */
const SLICE_MS = 0.5;

/** A computation that can pause wherever it yields: at least every tenth of a millisecond. */
export type Steps<Result> = Generator<void, Result>;

/** Work that did not fit into a slice. */
interface Unfinished {
  steps: Steps<unknown>;
  resolve: (result: unknown) => void;
  reject: (error: unknown) => void;
}

/** A party with unfinished work, oldest first. */
interface Party {
  name: string;
  unfinished: Unfinished[];
}

/**
 * Runs computations whose length a party decides, such as judging long data by many filters. All of them together get one
 * slice of each iteration of the event loop, round-robin over parties. What fits into the slice is done at once.
 */
export class TimeSlices {
  private readonly parties = new RoundRobin<string, Party>();
  private leftMs = SLICE_MS;
  private isScheduled = false;

  /** @param now ms of a monotonic clock */
  constructor(private readonly now: () => number = () => performance.now()) {}

  /** @param name the party on whose behalf the work is done */
  async run<Result>(name: string, steps: Steps<Result>): Promise<Result> {
    if (this.parties.size === 0 && this.leftMs > 0) {
      const step = this.advance(steps);
      if (step.done === true) return step.value;
    }
    return new Promise<Result>((resolve, reject) => {
      const work = { steps, resolve: resolve as Unfinished['resolve'], reject };
      const party = this.parties.get(name);
      if (party) party.unfinished.push(work);
      else this.parties.add(name, { name, unfinished: [work] });
    });
  }

  /** Runs until the work is done or the slice is over. */
  private advance<Result>(steps: Steps<Result>): IteratorResult<void, Result> {
    if (!this.isScheduled) this.schedule();
    const start = this.now();
    try {
      let step = steps.next();
      while (step.done !== true && this.now() - start < this.leftMs) step = steps.next();
      return step;
    } finally {
      this.leftMs -= this.now() - start;
    }
  }

  private schedule(): void {
    this.isScheduled = true;
    setImmediate(() => this.beginSlice());
  }

  private beginSlice(): void {
    this.isScheduled = false;
    this.leftMs = SLICE_MS;
    while (this.leftMs > 0 && this.parties.size > 0) {
      const party = this.parties.next()!;
      const { steps, resolve, reject } = party.unfinished[0]!;
      try {
        const step = this.advance(steps);
        if (step.done !== true) continue;
        resolve(step.value);
      } catch (error) {
        reject(error);
      }
      party.unfinished.shift();
      if (party.unfinished.length === 0) this.parties.remove(party.name);
    }
  }
}

/** Of this process, which has one event loop. */
const slices = new TimeSlices();

/** Runs work of a party in slices: see {@link TimeSlices}. */
export function inSlices<Result>(party: string, steps: Steps<Result>): Promise<Result> {
  return slices.run(party, steps);
}

/** Runs work whose length is known to be short to its end. */
export function atOnce<Result>(steps: Steps<Result>): Result {
  let step = steps.next();
  while (step.done !== true) step = steps.next();
  return step.value;
}
