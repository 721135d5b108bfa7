import { LRUCache } from '#libs/kernel';
import { type Call, Subscription } from './subscription-calls.js';

/** Limit of an account's places, as a multiple of the free slots. */
const ACCOUNT_SHARE = 2;
/** Share of slots reserved for quick subscriptions with few places, since hanging calls cannot be undone. */
const RESERVE = 1 / 8;
/** How many places count as few. */
const FEW = 4;
/** Limit of an account's places beyond its share, as a multiple of the free slots: its quick calls may all hang at once. */
const BEYOND_SHARE = 1 / 2;
/** Limit for all slow subscriptions together, as a share of all slots. */
const SLOW_SHARE = 1 / 2;
/** Limit for the tests of one account, as a share of the free slots. */
const TEST_SHARE = 1 / 8;
/** How many recently called subscriptions without a place are remembered. */
const REMEMBERED = 10_000;

/** Whose deliveries need places. */
export interface PlaceFor {
  webhookId: string;
  accountId: string;
  /** Only tests, which are sent at once, whatever their subscription has in flight. */
  tests: boolean;
}

/**
 * A place for one delivery and its call. Whoever holds it calls {@link end} in a `finally`, so that nothing that
 * fails between taking the place and the end of the call can leave the subscription blocked.
 */
export class Place {
  private isCalling = false;
  private hasEnded = false;

  /** @param free gives the place back to the worker */
  constructor(
    private readonly subscription: Subscription,
    private readonly isTest: boolean,
    private readonly free: () => void,
  ) {}

  /**
   * @param leasedAt when the lease was requested, by the clock of {@link DeliverySlots}
   * @returns whether the call may start; false after waiting too long for an earlier call to end, or if the
   * subscription was blocked since `leasedAt`. A test starts regardless
   */
  async start(leasedAt: number): Promise<boolean> {
    if (this.isTest) this.subscription.startAtOnce();
    this.isCalling = this.isTest || (await this.subscription.start(leasedAt));
    return this.isCalling;
  }

  /**
   * Gives the place back, once, however often it is called.
   * @param call absent if there was none, or if it failed on our own side, which says nothing about the target
   */
  end(call?: Call): void {
    if (this.hasEnded) return;
    this.hasEnded = true;
    try {
      if (this.isCalling) this.subscription.end(call);
    } finally {
      this.free();
    }
  }
}

/** A place for a queued delivery whose subscription is not yet known. */
export class Entry {
  private hasEnded = false;

  /** @param give gives the place back, after `acquire` */
  constructor(private readonly give: <Acquired>(acquire: () => Acquired) => Acquired) {}

  /** Exchanges it for the place that `acquire` takes, before anybody else can. */
  exchange<Acquired>(acquire: () => Acquired): Acquired | undefined {
    if (this.hasEnded) return undefined;
    this.hasEnded = true;
    return this.give(acquire);
  }

  /** Gives the place back if it was not exchanged. */
  end(): void {
    this.exchange(() => undefined);
  }
}

/**
 * A semaphore for a worker's calls in flight, shared so that no account or subscription delays another.
 *
 * A delivery first acquires a {@link Place}. Its call then starts at once, or when an earlier call to the same
 * subscription ends. Four limits apply to places: the worker's slots, the subscription's cap, the
 * account's share (twice the free slots, as in a network switch's shared buffer), and half of all slots
 * for all slow subscriptions together. Beyond the last two, quick subscriptions always get a few places, and an
 * eighth of all slots is reserved for these; an account gets fewer of them the fewer are free.
 */
export class DeliverySlots {
  /** Called after each release of a place. */
  onRoom: () => void = () => undefined;
  /** Subscriptions without a place. */
  private readonly others = new LRUCache<string, Subscription>({ max: REMEMBERED });
  private readonly active = new Map<string, Subscription>();
  private readonly byAccount = new Map<string, number>();
  private readonly beyondByAccount = new Map<string, number>();
  private readonly testsByAccount = new Map<string, number>();
  private readonly entering: (() => void)[] = [];
  private readonly reserve: number;
  private taken = 0;

  /**
   * @param slots maximum of calls in flight
   * @param bound maximum of calls in flight to one subscription
   */
  constructor(
    private readonly slots: number,
    private readonly bound: number,
    private readonly now: () => number = () => performance.now(),
  ) {
    this.reserve = Math.floor(slots * RESERVE);
  }

  get free(): number {
    return this.slots - this.taken;
  }

  /** Takes a place for a delivery whose subscription is not yet known. Waits until one is free. */
  async enter(): Promise<Entry> {
    if (this.free <= 0) await new Promise<void>((resolve) => this.entering.push(resolve));
    else this.taken += 1;
    return new Entry(this.exchange);
  }

  /** Takes up to `most` places; for a slow subscription, or for tests, at most one. */
  acquire(wanted: PlaceFor, most = 1): Place[] {
    const { webhookId, accountId, tests } = wanted;
    const subscription = this.of(webhookId);
    const shared = tests
      ? this.roomForTests(accountId)
      : Math.max(0, this.sharedRoom(subscription, accountId));
    const beyond = tests ? 0 : this.roomBeyond(subscription, accountId);
    const places = Math.min(subscription.isSlow ? 1 : most, Math.max(shared, beyond));
    if (places <= 0) return [];
    this.add(subscription, wanted, places);
    count(this.beyondByAccount, accountId, Math.max(0, places - shared));
    return Array.from({ length: places }, (_, number) => {
      const free = (): void => {
        if (number >= shared) count(this.beyondByAccount, accountId, -1);
        this.release(subscription, wanted);
      };
      return new Place(subscription, tests, free);
    });
  }

  /** Prevents the start of deliveries leased up to now. */
  block(webhookId: string): void {
    this.of(webhookId).block();
  }

  /** Prevents the start of waiting deliveries. */
  stop(): void {
    for (const subscription of this.active.values()) subscription.stop();
  }

  /** Whether to claim more of a subscription's deliveries: fewer wait here than half of its cap. */
  wantsMore(webhookId: string): boolean {
    return this.of(webhookId).wantsMore;
  }

  /**
   * A customer may request many tests of hanging targets, so tests have a limit for each account that leaves
   * room for its other calls.
   */
  private roomForTests(accountId: string): number {
    const tests = this.testsByAccount.get(accountId) ?? 0;
    return tests < Math.ceil(this.free * TEST_SHARE) ? 1 : 0;
  }

  private sharedRoom(subscription: Subscription, accountId: string): number {
    const slow = subscription.isSlow
      ? Math.ceil(this.slots * SLOW_SHARE) - this.takenBySlow()
      : Infinity;
    return Math.min(
      subscription.most - subscription.places,
      this.free - this.reserve,
      this.roomIn(ACCOUNT_SHARE, this.byAccount.get(accountId)),
      slow,
    );
  }

  private roomBeyond(subscription: Subscription, accountId: string): number {
    if (!subscription.isQuick) return 0;
    return Math.min(
      subscription.most - subscription.places,
      FEW - subscription.places,
      this.free,
      this.roomIn(BEYOND_SHARE, this.beyondByAccount.get(accountId)),
    );
  }

  /** How many more places a holder of `held` may take: its share is a multiple of the slots that are then still free. */
  private roomIn(share: number, held = 0): number {
    return Math.ceil((this.free * share - held) / (1 + share));
  }

  private takenBySlow(): number {
    let taken = 0;
    for (const each of this.active.values()) if (each.isSlow) taken += each.places;
    return taken;
  }

  private of(webhookId: string): Subscription {
    const known = this.active.get(webhookId) ?? this.others.get(webhookId);
    if (known) return known;
    const subscription = new Subscription(this.bound, this.now);
    this.others.set(webhookId, subscription);
    return subscription;
  }

  private add(subscription: Subscription, of: PlaceFor, places: number): void {
    subscription.places += places;
    this.active.set(of.webhookId, subscription);
    count(this.byAccount, of.accountId, places);
    if (of.tests) count(this.testsByAccount, of.accountId, places);
    this.taken += places;
  }

  private release(subscription: Subscription, { webhookId, accountId, tests }: PlaceFor): void {
    subscription.places -= 1;
    if (subscription.places === 0) {
      this.active.delete(webhookId);
      this.others.set(webhookId, subscription);
    }
    count(this.byAccount, accountId, -1);
    if (tests) count(this.testsByAccount, accountId, -1);
    this.give(1);
  }

  private readonly exchange = <Acquired>(acquire: () => Acquired): Acquired => {
    this.taken -= 1;
    try {
      return acquire();
    } finally {
      this.give(0);
    }
  };

  private give(places: number): void {
    this.taken -= places;
    while (this.free > 0 && this.entering.length > 0) {
      this.taken += 1;
      this.entering.shift()!();
    }
    this.onRoom();
  }
}

function count(counts: Map<string, number>, key: string, change: number): void {
  const next = (counts.get(key) ?? 0) + change;
  if (next === 0) counts.delete(key);
  else counts.set(key, next);
}
