import { SharedCache } from '#libs/kernel';
import { CallLimiter } from './call-limiter.js';
import type { Hold } from './hold.js';
import { type Assignment, Slot, type SlotOwner, type Slots } from './slot.js';

/** Limit of an account's slots, as a multiple of the free slots. */
const ACCOUNT_SHARE = 2;
/** Share of slots reserved for quick subscriptions with few slots, since hanging calls cannot be undone. */
const RESERVE = 1 / 8;
/** How many slots count as few. */
const FEW = 4;
/** Limit of an account's slots beyond its share, as a multiple of the free slots: its quick calls may all hang at once. */
const BEYOND_SHARE = 1 / 2;
/** Limit for all slow subscriptions together, as a share of all slots. */
const SLOW_SHARE = 1 / 2;
/** Limit for the immediate deliveries of one account, as a share of the free slots. */
const IMMEDIATE_SHARE = 1 / 8;
/** If no slot outside the reserve was free for this long, in ms, the calls in flight hang. */
const HANGING_MS = 50;
/** How many recently called subscriptions without a slot are remembered. */
const REMEMBERED = 10_000;

/** What slots ask of a {@link Hold}. */
type Admission = Pick<Hold, 'isOn' | 'admits' | 'whileOn'>;
const NO_HOLD: Admission = { isOn: false, admits: () => true, whileOn: () => undefined };

/**
 * A semaphore for a worker's calls in flight, shared so that no account or subscription delays another.
 *
 * A delivery first acquires a {@link Slot}. Its call then starts at once, or when an earlier call to the same
 * subscription ends. Four limits apply: the worker's slots, the subscription's cap, the account's share (twice the
 * free slots, as in a network switch's shared buffer), and half of all slots for all slow subscriptions together.
 * Beyond the last two, quick subscriptions always get a few slots, and an eighth of all slots is reserved for these;
 * an account gets fewer of them the fewer are free.
 */
export class DeliverySlots implements Slots {
  /** Whether {@link stop} was called. */
  isStopped = false;
  /** The limiters of subscriptions with slots, and of others that were called recently. */
  private readonly active = new Map<string, CallLimiter>();
  private readonly others = new SharedCache<string, CallLimiter>(REMEMBERED);
  private readonly byAccount = new Map<string, number>();
  private readonly beyondByAccount = new Map<string, number>();
  private readonly immediateByAccount = new Map<string, number>();
  /** Deliveries from the queue that wait for a slot. */
  private readonly reserving: (() => void)[] = [];
  /** While some wait: whether one has got a slot outside the reserve, lately. */
  private hasProgress = false;
  private isHanging = false;
  private timer: NodeJS.Timeout | undefined;
  private readonly awaitingRelease: (() => void)[] = [];
  private readonly spare: number;
  private taken = 0;

  /**
   * @param total maximum of calls in flight
   * @param bound maximum of calls in flight to one subscription
   * @param hold while it is on, slots are given to probes alone
   */
  constructor(
    readonly total: number,
    private readonly bound: number,
    private readonly hold: Admission = NO_HOLD,
    private readonly now: () => number = () => performance.now(),
  ) {
    this.spare = Math.floor(total * RESERVE);
    hold.whileOn(() => this.admit());
  }

  get free(): number {
    return this.total - this.taken;
  }

  get used(): number {
    return this.taken;
  }

  /** Whether slots are given to probes alone. */
  get isHeld(): boolean {
    return this.hold.isOn;
  }

  /** Acquires up to `most` slots; for a slow subscription, for immediate deliveries, or as a probe, at most one. */
  acquire(owner: SlotOwner, most = 1): Slot[] {
    if (!this.isHeld) return this.slotsFor(owner, most);
    return this.hold.admits() ? this.slotsFor(owner, 1) : [];
  }

  /**
   * Takes a slot for a delivery whose subscription is not yet known. Waits until one is free outside the reserve, because to
   * send the delivery back to PostgreSQL costs more, or until those in use hang.
   */
  async reserve(): Promise<Slot> {
    if (this.reserving.length === 0 && this.hasRoom) return this.reserved();
    return new Promise((resolve) => {
      this.reserving.push(() => resolve(this.reserved()));
      this.watchProgress();
    });
  }

  /** Resolves when a slot is released. */
  released(): Promise<void> {
    return new Promise((resolve) => this.awaitingRelease.push(resolve));
  }

  /** Starts no more calls. Calls in flight continue. */
  stop(): void {
    this.isStopped = true;
    for (const calls of this.active.values()) calls.stop();
  }

  /** Whether to claim more of a subscription's deliveries: fewer wait here than half of its cap. */
  wantsMore(webhookId: string): boolean {
    return this.known(webhookId)?.wantsMore ?? true;
  }

  /** Exchanges a reserved slot for one of `owner`, before another delivery can take it. For {@link Slot}. */
  exchange(owner: SlotOwner, isUnreserved: boolean): Assignment | undefined {
    this.taken -= 1;
    let assignment: Assignment | undefined;
    try {
      [assignment] = this.assignments(owner, 1, isUnreserved ? 1 : 0);
    } finally {
      if (!assignment) this.admit();
    }
    return assignment;
  }

  /** Takes a slot back. For {@link Slot}. @param assignment absent if it was only reserved */
  giveBack(assignment: Assignment | undefined): void {
    if (assignment) this.count(assignment, -1);
    this.taken -= 1;
    this.admit();
  }

  private get hasRoom(): boolean {
    return this.free > (this.isHanging ? 0 : this.spare) && this.hold.admits();
  }

  private reserved(): Slot {
    const isUnreserved = this.free > this.spare;
    if (isUnreserved) this.hasProgress = true;
    this.taken += 1;
    return new Slot(this, undefined, isUnreserved);
  }

  private watchProgress(): void {
    if (this.timer) return;
    this.hasProgress = false;
    this.timer = setTimeout(() => {
      // First comes what has ended while the event loop was busy.
      setImmediate(() => {
        this.timer = undefined;
        if (!this.hasProgress) this.isHanging = true;
        this.admit();
        if (this.reserving.length > 0) this.watchProgress();
      });
    }, HANGING_MS);
  }

  private slotsFor(owner: SlotOwner, most: number): Slot[] {
    return this.assignments(owner, most).map((assignment) => new Slot(this, assignment));
  }

  /** @param unreserved how many slots outside the reserve are for it */
  private assignments(owner: SlotOwner, most: number, unreserved = 0): Assignment[] {
    const { webhookId, accountId, immediate } = owner;
    const calls = this.known(webhookId) ?? new CallLimiter(this.bound, this.now);
    const shared = immediate
      ? this.roomForImmediate(accountId)
      : Math.max(0, this.sharedRoom(calls, accountId, unreserved));
    const beyond = immediate ? 0 : this.roomBeyond(calls, accountId);
    const slots = Math.min(calls.isSlow ? 1 : most, Math.max(shared, beyond));
    if (slots <= 0) return [];
    this.active.set(webhookId, calls);
    return Array.from({ length: slots }, (_, number) => {
      const assignment = { owner, calls, isBeyondShare: number >= shared };
      this.count(assignment, 1);
      this.taken += 1;
      return assignment;
    });
  }

  /**
   * A customer may request many tests of hanging targets, so tests have a limit for each account that leaves
   * room for its other calls.
   */
  private roomForImmediate(accountId: string): number {
    const held = this.immediateByAccount.get(accountId) ?? 0;
    return held < Math.ceil(this.free * IMMEDIATE_SHARE) ? 1 : 0;
  }

  private sharedRoom(calls: CallLimiter, accountId: string, unreserved: number): number {
    const slow = calls.isSlow ? Math.ceil(this.total * SLOW_SHARE) - this.takenBySlow() : Infinity;
    return Math.min(
      calls.room,
      Math.max(this.free - this.spare, unreserved),
      this.roomIn(ACCOUNT_SHARE, this.byAccount.get(accountId)),
      slow,
    );
  }

  private roomBeyond(calls: CallLimiter, accountId: string): number {
    if (!calls.isQuick) return 0;
    return Math.min(
      calls.room,
      FEW - calls.slots,
      this.free,
      this.roomIn(BEYOND_SHARE, this.beyondByAccount.get(accountId)),
    );
  }

  /** How many more slots a holder of `held` may take: its share is a multiple of the slots that are then still free. */
  private roomIn(share: number, held = 0): number {
    return Math.ceil((this.free * share - held) / (1 + share));
  }

  private takenBySlow(): number {
    let taken = 0;
    for (const calls of this.active.values()) if (calls.isSlow) taken += calls.slots;
    return taken;
  }

  private known(webhookId: string): CallLimiter | undefined {
    return this.active.get(webhookId) ?? this.others.get(webhookId);
  }

  private count({ owner, calls, isBeyondShare }: Assignment, change: 1 | -1): void {
    const { webhookId, accountId, immediate } = owner;
    calls.slots += change;
    if (calls.slots === 0) {
      this.active.delete(webhookId);
      this.others.set(webhookId, accountId, calls);
    }
    add(this.byAccount, accountId, change);
    if (isBeyondShare) add(this.beyondByAccount, accountId, change);
    if (immediate) add(this.immediateByAccount, accountId, change);
  }

  /** Gives free slots to who waits for one: first to claims, which take what is free, and then wait for PostgreSQL. */
  private admit(): void {
    if (this.free > this.spare) this.isHanging = false;
    if (this.awaitingRelease.length === 0) {
      this.admitQueued();
      return;
    }
    for (const resolve of this.awaitingRelease.splice(0)) resolve();
    setImmediate(() => this.admitQueued());
  }

  private admitQueued(): void {
    while (this.reserving.length > 0 && this.hasRoom) this.reserving.shift()!();
  }
}

function add(counts: Map<string, number>, key: string, change: number): void {
  const next = (counts.get(key) ?? 0) + change;
  if (next === 0) counts.delete(key);
  else counts.set(key, next);
}
