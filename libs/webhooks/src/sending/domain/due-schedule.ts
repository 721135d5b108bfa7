import { RoundRobin } from '#libs/kernel';
import type { Slot, SlotOwner } from './slot.js';

/**
 * The strictest limit of a subscription: one delivery after the other, calls in flight, or only claims in a second.
 * Null for most, which have none.
 */
export type Pace = 'order' | 'concurrency' | 'rate' | null;

/** Waiting deliveries of a subscription in one partition of PostgreSQL, and when they are due. */
export interface DueWork {
  webhookId: string;
  accountId: string;
  /** The day of the partition. */
  day: number;
  /** ms until a delivery may be sent; 0 or less if one may be sent now. */
  dueInMs: number;
  /** ms until the oldest is due, even if it is blocked; absent if unknown. */
  oldestInMs?: number;
  /** The circuit is half-open once this is due, so one delivery may be sent as a probe. */
  probe?: boolean;
  /** Only immediate deliveries, which are never blocked. */
  immediate?: boolean;
  pace?: Pace;
}

/** A request to claim up to `most` deliveries of a subscription, oldest first. */
export interface DueClaim {
  webhookId: string;
  accountId: string;
  day: number;
  most: number;
  /** Upper bound of the time in ms for which the oldest has been due; Infinity if unknown. */
  dueForMs: number;
  probe: boolean;
  immediate: boolean;
  pace: Pace;
}

/** A claim with a slot for each delivery. */
export interface SlottedClaim extends DueClaim {
  slots: Slot[];
}

interface Entry extends Omit<DueClaim, 'dueForMs'> {
  key: string;
  dueAt: number;
  /** No delivery is due before this time. */
  oldestAt: number;
  /** The pace allows no claim before this time. */
  notBefore: number;
  /** When it was last added other than by a scan. */
  addedAt: number;
}

/** Size of a subscription's first claim, when the number of due deliveries is unknown. */
const FIRST_CLAIM = 4;
/** Most deliveries of one subscription in a claim. */
const LARGEST_CLAIM = 50;
/** Most deliveries in a claim. */
const LARGEST_BATCH = 200;
/** Most subscriptions that are checked for free slots before a claim is sent. */
const EXAMINED = 1_000;

/** Least time in ms between claims of a subscription with a rate, so that each takes several at a high rate. */
const PACED_MS = 25;

/** Delay in ms before due entries are noticed, because noticing them means visiting all waiting entries. */
const PROMOTE_MS = 10;

/**
 * Schedules a worker's claims: it holds which subscriptions have deliveries waiting in PostgreSQL, and when the oldest
 * is due. It learns this from index scans and the worker's own deliveries, so entries may be missing or outdated. Scans
 * add missing entries; claims remove outdated ones.
 *
 * Accounts are served round-robin, and so are the subscriptions of each account.
 */
export class DueSchedule {
  private readonly entries = new Map<string, Entry>();
  /** Due entries by account. */
  private readonly due = new RoundRobin<string, RoundRobin<string, Entry>>();
  private readonly later = new Set<Entry>();
  /** No entry of `later` is due before this time. */
  private nextDueAt = Infinity;

  constructor(private readonly now: () => number = () => performance.now()) {}

  /** ms until there is something to claim; 0 if there is something now, Infinity without entries. */
  get dueInMs(): number {
    this.promote();
    return this.due.size > 0 ? 0 : Math.max(0, this.nextDueAt - this.now());
  }

  /** How long the oldest due work that meets a condition has waited, in ms; 0 without such work. */
  longestWaitMs(counts: (work: SlotOwner) => boolean): number {
    const now = this.now();
    let oldest = now;
    for (const entry of this.entries.values()) {
      if (entry.dueAt < oldest && counts(entry)) oldest = entry.dueAt;
    }
    return now - oldest;
  }

  /** The days with known waiting deliveries. */
  days(): Set<number> {
    return new Set([...this.entries.values()].map(({ day }) => day));
  }

  /** Adds work that no scan has found yet. */
  add(work: DueWork): void {
    const entry = this.entryOf(work);
    entry.addedAt = this.now();
    this.bringForward(entry, work, this.now());
  }

  /** Adds the results of a scan that began at `begunAt`. */
  addFound(works: readonly DueWork[], begunAt: number): void {
    for (const work of works) {
      const entry = this.entryOf(work);
      if (entry.addedAt <= begunAt) {
        Object.assign(entry, { probe: work.probe ?? false, dueAt: Infinity, oldestAt: Infinity });
      }
      this.bringForward(entry, work, begunAt);
    }
  }

  /**
   * Chooses what to claim next.
   * @param acquire acquires up to `most` slots for a subscription
   */
  pick(acquire: (work: SlotOwner, most: number) => Slot[]): SlottedClaim[] {
    this.promote();
    const claims: SlottedClaim[] = [];
    const asked = new Set<Entry>();
    let picked = 0;
    /** Consecutive accounts whose subscriptions were all checked. */
    let done = 0;
    while (done < this.due.size && asked.size < EXAMINED && picked < LARGEST_BATCH) {
      const entry = this.due.next()!.next()!;
      if (asked.has(entry)) {
        done += 1;
        continue;
      }
      done = 0;
      asked.add(entry);
      const wanted = entry.probe ? 1 : Math.min(entry.most, LARGEST_BATCH - picked);
      const dueForMs = this.now() - entry.oldestAt;
      const slots = acquire(entry, wanted);
      const most = slots.length;
      if (most === 0) continue;
      picked += most;
      const { webhookId, accountId, day, probe, immediate, pace } = entry;
      claims.push({ webhookId, accountId, day, most, dueForMs, probe, immediate, pace, slots });
    }
    return claims;
  }

  /**
   * Records that a claim begun at `begunAt` found this many. Fewer than requested means no more are due, or may be
   * claimed.
   * @param pacedMs ms until the rate of the subscription allows the next claim
   */
  recordClaim(claim: DueClaim, found: number, begunAt: number, pacedMs = 0): void {
    const entry = this.entries.get(keyOf(claim));
    if (!entry) return;
    const isFull = found === claim.most && !claim.probe;
    if (isFull) entry.most = Math.min(2 * entry.most, LARGEST_CLAIM);
    if (found > 0 && pacedMs > 0) entry.notBefore = this.now() + Math.max(pacedMs, PACED_MS);
    // Until this one has ended, when `add` says so.
    if (found > 0 && claim.pace === 'order') this.plan(entry, Infinity);
    else if (found > 0 && pacedMs > 0) this.plan(entry, entry.notBefore);
    else if (!isFull && entry.addedAt <= begunAt) this.remove(entry);
  }

  private entryOf(work: DueWork): Entry {
    const key = keyOf(work);
    const { webhookId, accountId, day, probe = false, immediate = false, pace = null } = work;
    const known = this.entries.get(key);
    if (known) return Object.assign(known, { pace });
    const entry: Entry = {
      key,
      webhookId,
      accountId,
      day,
      most: FIRST_CLAIM,
      probe,
      immediate,
      pace,
      dueAt: Infinity,
      oldestAt: Infinity,
      notBefore: -Infinity,
      addedAt: -Infinity,
    };
    this.entries.set(key, entry);
    return entry;
  }

  /** PostgreSQL answered between `askedAt` and now, so this uses the safe bound for each value. */
  private bringForward(
    entry: Entry,
    { dueInMs, oldestInMs = -Infinity }: DueWork,
    askedAt: number,
  ) {
    entry.oldestAt = Math.min(entry.oldestAt, askedAt + oldestInMs);
    const dueAt = Math.min(entry.dueAt, this.now() + dueInMs);
    this.plan(entry, Math.max(dueAt, entry.notBefore));
  }

  private plan(entry: Entry, dueAt: number): void {
    entry.dueAt = dueAt;
    if (dueAt <= this.now()) {
      this.later.delete(entry);
      this.addDue(entry);
    } else {
      this.removeDue(entry);
      this.later.add(entry);
      this.nextDueAt = Math.min(this.nextDueAt, dueAt);
    }
  }

  private remove(entry: Entry): void {
    this.entries.delete(entry.key);
    this.later.delete(entry);
    this.removeDue(entry);
  }

  private addDue(entry: Entry): void {
    const { accountId, key } = entry;
    const ofAccount = this.due.get(accountId) ?? new RoundRobin<string, Entry>();
    ofAccount.add(key, entry);
    this.due.add(accountId, ofAccount);
  }

  private removeDue({ accountId, key }: Entry): void {
    const ofAccount = this.due.get(accountId);
    ofAccount?.remove(key);
    if (ofAccount?.size === 0) this.due.remove(accountId);
  }

  private promote(): void {
    const now = this.now();
    if (this.nextDueAt > now) return;
    this.nextDueAt = Infinity;
    for (const entry of this.later) {
      if (entry.dueAt <= now) this.plan(entry, entry.dueAt);
      else this.nextDueAt = Math.min(this.nextDueAt, Math.max(entry.dueAt, now + PROMOTE_MS));
    }
  }
}

function keyOf({
  day,
  webhookId,
  immediate = false,
}: Pick<DueWork, 'day' | 'webhookId' | 'immediate'>): string {
  return `${webhookId} ${String(day)} ${immediate ? 'immediate' : ''}`;
}
