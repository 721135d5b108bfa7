import { RoundRobin } from '#libs/kernel';

/** Something of a subscription waits in PostgreSQL, in one partition, and is due from a time on. */
export interface DueWork {
  webhookId: string;
  accountId: string;
  /** Of the partition. */
  day: number;
  /** ms until something may be sent; not above 0 if it may be now. */
  dueInMs: number;
  /** ms until the oldest is due, whatever may keep it from being sent; by default not known. */
  oldestInMs?: number;
  /** Its circuit is open, and its time has come: one of them may go, as a probe. */
  probe?: boolean;
  /** Tests alone, which nothing blocks. */
  tests?: boolean;
}

/** What is to be claimed: up to `most` deliveries of a subscription, the oldest first. */
export interface DueClaim {
  webhookId: string;
  accountId: string;
  day: number;
  most: number;
  /** ms for which the oldest may have been due; Infinity if that is not known. */
  dueForMs: number;
  probe: boolean;
  tests: boolean;
}

interface Entry extends Omit<DueClaim, 'dueForMs'> {
  key: string;
  dueAt: number;
  /** Nothing is due before. */
  oldestAt: number;
  /** When this was last heard of, other than by a look. */
  notedAt: number;
}

/** Deliveries of a subscription that are claimed first, when it is not known how many are due. */
const FIRST_CLAIM = 4;
/** Deliveries of one subscription in a claim. */
const LARGEST_CLAIM = 50;
/** Deliveries in a claim. */
const LARGEST_BATCH = 200;
/** Subscriptions that are asked for room before a claim goes out. */
const EXAMINED = 1_000;

/** What has become due is seen so much later, ms: to see it is to look at all that is not. */
const PROMOTE_MS = 10;

/**
 * What a worker knows of the deliveries that wait in PostgreSQL: which subscriptions have some, and when
 * the oldest is due. It comes from looks at the index and from what the worker itself did, so it may
 * be wrong at any time, in either direction: a look finds what it lacks, a claim what is gone.
 *
 * Accounts are served one after the other, and the subscriptions of an account as well.
 */
export class DueSchedule {
  private readonly entries = new Map<string, Entry>();
  /** Those that are due, by account. */
  private readonly due = new RoundRobin<string, RoundRobin<string, Entry>>();
  private readonly later = new Set<Entry>();
  /** Nothing in `later` is due before. */
  private nextDueAt = Infinity;

  constructor(private readonly now: () => number = () => performance.now()) {}

  /** ms until there is something to claim; 0 if there is now, Infinity if nothing is known of. */
  get dueInMs(): number {
    this.promote();
    return this.due.size > 0 ? 0 : Math.max(0, this.nextDueAt - this.now());
  }

  /** The days of which something is known to wait. */
  days(): Set<number> {
    return new Set([...this.entries.values()].map(({ day }) => day));
  }

  /** Something waits that no look has found yet. */
  note(work: DueWork): void {
    const entry = this.entryOf(work);
    entry.notedAt = this.now();
    this.bringForward(entry, work, this.now());
  }

  /** What a look that began then has found. */
  found(works: readonly DueWork[], begunAt: number): void {
    for (const work of works) {
      const entry = this.entryOf(work);
      if (entry.notedAt <= begunAt) {
        Object.assign(entry, { probe: work.probe ?? false, dueAt: Infinity, oldestAt: Infinity });
      }
      this.bringForward(entry, work, begunAt);
    }
  }

  /**
   * What to claim next.
   * @param hold takes up to so many places for deliveries of a subscription, and tells how many it got
   */
  pick(hold: (work: Omit<DueClaim, 'dueForMs'>, most: number) => number): DueClaim[] {
    this.promote();
    const claims: DueClaim[] = [];
    const asked = new Set<Entry>();
    let picked = 0;
    /** Accounts in a row of which all have been asked. */
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
      const most = hold(entry, wanted);
      if (most === 0) continue;
      picked += most;
      const { webhookId, accountId, day, probe, tests } = entry;
      const dueForMs = this.now() - entry.oldestAt;
      claims.push({ webhookId, accountId, day, most, dueForMs, probe, tests });
    }
    return claims;
  }

  /** So many deliveries were found by a claim that began then: with fewer than asked for, there are no more. */
  claimed(claim: DueClaim, found: number, begunAt: number): void {
    const entry = this.entries.get(keyOf(claim));
    if (!entry) return;
    if (found === claim.most && !claim.probe) entry.most = Math.min(2 * entry.most, LARGEST_CLAIM);
    else if (entry.notedAt <= begunAt) this.remove(entry);
  }

  private entryOf(work: DueWork): Entry {
    const key = keyOf(work);
    const known = this.entries.get(key);
    if (known) return known;
    const { webhookId, accountId, day, probe = false, tests = false } = work;
    const entry: Entry = {
      key,
      webhookId,
      accountId,
      day,
      most: FIRST_CLAIM,
      probe,
      tests,
      dueAt: Infinity,
      oldestAt: Infinity,
      notedAt: -Infinity,
    };
    this.entries.set(key, entry);
    return entry;
  }

  /** Of a look it is known that PostgreSQL answered between `askedAt` and now: the safe end of both. */
  private bringForward(
    entry: Entry,
    { dueInMs, oldestInMs = -Infinity }: DueWork,
    askedAt: number,
  ) {
    entry.oldestAt = Math.min(entry.oldestAt, askedAt + oldestInMs);
    this.plan(entry, Math.min(entry.dueAt, this.now() + dueInMs));
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
  tests = false,
}: Pick<DueWork, 'day' | 'webhookId' | 'tests'>): string {
  return `${webhookId} ${String(day)} ${tests ? 'tests' : ''}`;
}
