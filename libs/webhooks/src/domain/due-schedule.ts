/** Something of a subscription waits in PostgreSQL, in one partition, and is due from a time on. */
export interface DueWork {
  webhookId: string;
  accountId: string;
  /** Of the partition. */
  day: number;
  /** ms until the oldest is due; not above 0 if it is. */
  dueInMs: number;
  /** When the oldest is due, as PostgreSQL writes it; undefined if that is not known. */
  since?: string | undefined;
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
  since: string | undefined;
  probe: boolean;
  tests: boolean;
}

interface Entry extends Required<Omit<DueWork, 'dueInMs' | 'since'>> {
  since: string | undefined;
  dueAt: number;
  /** When this was last heard of, other than by a look. */
  notedAt: number;
  /** So many are claimed next; doubled as long as there are more. */
  most: number;
}

/** Deliveries of a subscription that are claimed first, when it is not known how many are due. */
const FIRST_CLAIM = 4;
/** Deliveries of one subscription in a claim. */
const LARGEST_CLAIM = 50;
/** Deliveries in a claim. */
const LARGEST_BATCH = 200;
/** Subscriptions that are asked for room before a claim goes out. */
const EXAMINED = 1_000;

/**
 * What a worker knows of the deliveries that wait in PostgreSQL: which subscriptions have some, and when
 * the oldest is due. It comes from looks at the index and from what the worker itself did, so it may
 * be wrong at any time, in either direction; the next look corrects it.
 *
 * Accounts are served one after the other, and the subscriptions of an account as well.
 */
export class DueSchedule {
  private readonly entries = new Map<string, Entry>();
  /** Those that are due, by account; the next to be served first. */
  private readonly due = new Map<string, Map<string, Entry>>();
  /** Nothing that is not in `due` is due before. */
  private nextDueAt = Infinity;

  constructor(private readonly now: () => number = () => performance.now()) {}

  /** ms until there is something to claim; 0 if there is now, Infinity if nothing is known of. */
  get dueInMs(): number {
    this.promote();
    return this.due.size > 0 ? 0 : Math.max(0, this.nextDueAt - this.now());
  }

  /** The subscriptions that have something due. */
  dueWebhooks(): Set<string> {
    this.promote();
    const webhooks = new Set<string>();
    for (const ofAccount of this.due.values()) {
      for (const entry of ofAccount.values()) webhooks.add(entry.webhookId);
    }
    return webhooks;
  }

  /** The days of which something is known to wait. */
  days(): Set<number> {
    return new Set([...this.entries.values()].map(({ day }) => day));
  }

  /** Something waits that no look has found yet. */
  note(work: DueWork): void {
    const now = this.now();
    const key = keyOf(work);
    const known = this.entries.get(key);
    const dueAt = now + work.dueInMs;
    if (known) {
      known.notedAt = now;
      // It may have been due before all that is known of.
      known.since = undefined;
      if (dueAt < known.dueAt) this.put(key, { ...known, dueAt });
      return;
    }
    this.put(key, this.entryOf(work, now));
  }

  /** What a look at a day has found is all that waits there, but for what was noted since it began. */
  replace(day: number, found: readonly DueWork[], begunAt: number): void {
    const keys = new Set(found.map(keyOf));
    for (const [key, entry] of this.entries) {
      if (entry.day === day && entry.notedAt <= begunAt && !keys.has(key)) this.remove(key);
    }
    for (const work of found) {
      const key = keyOf(work);
      const known = this.entries.get(key);
      const entry = this.entryOf(work, -Infinity);
      if (known) {
        const { most, notedAt } = known;
        if (notedAt > begunAt) entry.dueAt = Math.min(entry.dueAt, known.dueAt);
        Object.assign(entry, { most, notedAt });
      }
      this.put(key, entry);
    }
  }

  /**
   * What to claim next.
   * @param hold takes up to so many places for deliveries of a subscription, and tells how many it got
   */
  pick(hold: (work: Omit<DueWork, 'dueInMs'>, most: number) => number): DueClaim[] {
    this.promote();
    const claims: DueClaim[] = [];
    const accounts = [...this.due.keys()];
    const asked = new Map<string, number>();
    let picked = 0;
    for (let n = 0; n < Math.min(accounts.length, EXAMINED) && picked < LARGEST_BATCH; n += 1) {
      const accountId = accounts[n]!;
      const ofAccount = this.due.get(accountId)!;
      const [key, entry] = first(ofAccount);
      moveBack(ofAccount, key);
      moveBack(this.due, accountId);
      const times = (asked.get(accountId) ?? 0) + 1;
      asked.set(accountId, times);
      // It comes again when all others had their opportunity, until all of its subscriptions had theirs.
      if (times < ofAccount.size) accounts.push(accountId);
      const wanted = entry.probe ? 1 : Math.min(entry.most, LARGEST_BATCH - picked);
      const most = hold(entry, wanted);
      if (most === 0) continue;
      picked += most;
      const { webhookId, day, since, probe, tests } = entry;
      claims.push({ webhookId, accountId, day, most, since, probe, tests });
    }
    return claims;
  }

  /** So many deliveries were found by a claim that began then: with fewer than asked for, there are no more. */
  claimed(claim: DueClaim, found: number, begunAt: number): void {
    const key = keyOf(claim);
    const entry = this.entries.get(key);
    if (!entry) return;
    if (found === claim.most && !claim.probe) entry.most = Math.min(2 * entry.most, LARGEST_CLAIM);
    else if (entry.notedAt <= begunAt) this.remove(key);
  }

  private entryOf(work: DueWork, notedAt: number): Entry {
    const { webhookId, accountId, day, since, probe = false, tests = false, dueInMs } = work;
    const dueAt = this.now() + dueInMs;
    return { webhookId, accountId, day, since, probe, tests, dueAt, notedAt, most: FIRST_CLAIM };
  }

  private put(key: string, entry: Entry): void {
    this.entries.set(key, entry);
    const ofAccount = this.due.get(entry.accountId);
    if (ofAccount?.has(key)) {
      if (entry.dueAt <= this.now()) ofAccount.set(key, entry);
      else this.withdraw(key, entry);
    }
    this.nextDueAt = Math.min(this.nextDueAt, entry.dueAt);
  }

  private remove(key: string): void {
    const entry = this.entries.get(key);
    if (!entry) return;
    this.entries.delete(key);
    this.withdraw(key, entry);
  }

  private withdraw(key: string, { accountId }: Entry): void {
    const ofAccount = this.due.get(accountId);
    ofAccount?.delete(key);
    if (ofAccount?.size === 0) this.due.delete(accountId);
  }

  /** Moves what has become due to the end of its account's list. */
  private promote(): void {
    const now = this.now();
    if (this.nextDueAt > now) return;
    this.nextDueAt = Infinity;
    for (const [key, entry] of this.entries) {
      if (entry.dueAt > now) {
        this.nextDueAt = Math.min(this.nextDueAt, entry.dueAt);
        continue;
      }
      const ofAccount = this.due.get(entry.accountId) ?? new Map<string, Entry>();
      if (!ofAccount.has(key)) ofAccount.set(key, entry);
      this.due.set(entry.accountId, ofAccount);
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

function first<Key, Value>(map: Map<Key, Value>): [Key, Value] {
  const [entry] = map;
  if (!entry) throw new Error('the map is empty');
  return entry;
}

function moveBack<Key, Value>(map: Map<Key, Value>, key: Key): void {
  const value = map.get(key)!;
  map.delete(key);
  map.set(key, value);
}
