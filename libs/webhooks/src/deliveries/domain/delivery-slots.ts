import { LRUCache } from '#libs/kernel';
import { Subscription } from './subscription-calls.js';

/** Limit of an account's places, as a multiple of the free slots. */
const ACCOUNT_SHARE = 2;
/** Share of slots reserved for quick subscriptions with few places, since hanging calls cannot be undone. */
const RESERVE = 1 / 8;
/** How many places count as few. */
const FEW = 4;
/** Limit for all slow subscriptions together, as a share of all slots. */
const SLOW_SHARE = 1 / 2;
/** Limit for the tests of one account, as a share of the free slots. */
const TEST_SHARE = 1 / 8;
/** How many recently called subscriptions without a place are remembered. */
const REMEMBERED = 10_000;

/**
 * A semaphore for a worker's calls in flight, shared so that no account or subscription delays another.
 *
 * A delivery first acquires a place. Its call then starts at once, or when an earlier call to the same
 * subscription ends. Four limits apply to places: the worker's slots, the subscription's cap, the
 * account's share (twice the free slots, as in a network switch's shared buffer), and half of all slots
 * for all slow subscriptions together. An eighth is always reserved for quick subscriptions with few places.
 */
export class DeliverySlots {
  /** Called after each release of a place. */
  onRoom: () => void = () => undefined;
  /** Subscriptions without a place. */
  private readonly others = new LRUCache<string, Subscription>({ max: REMEMBERED });
  private readonly active = new Map<string, Subscription>();
  private readonly byAccount = new Map<string, number>();
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
  async enter(): Promise<void> {
    if (this.free <= 0) await new Promise<void>((resolve) => this.entering.push(resolve));
    else this.taken += 1;
  }

  /** Exchanges the place from {@link enter} for the one that `acquire` takes for the known subscription. */
  entered<Acquired>(acquire: () => Acquired): Acquired {
    this.taken -= 1;
    const acquired = acquire();
    this.give(0);
    return acquired;
  }

  /** Takes up to `most` places; for a slow subscription, at most one. @returns how many it took */
  acquire(webhookId: string, accountId: string, most = 1): number {
    const subscription = this.of(webhookId);
    const wanted = subscription.isSlow ? 1 : most;
    const places = Math.max(0, Math.min(wanted, this.roomFor(subscription, accountId)));
    if (places > 0) this.add(webhookId, accountId, places);
    return places;
  }

  /**
   * Takes a place for a test, which is sent at once, whatever its subscription has in flight. A customer
   * may request many tests of hanging targets, so tests have a limit for each account that leaves room
   * for its other calls.
   */
  acquireTest(webhookId: string, accountId: string): boolean {
    const tests = this.testsByAccount.get(accountId) ?? 0;
    if (tests >= Math.ceil(this.free * TEST_SHARE)) return false;
    count(this.testsByAccount, accountId, 1);
    this.add(webhookId, accountId, 1);
    return true;
  }

  /** Releases places whose calls were not made. */
  release(webhookId: string, accountId: string, places = 1): void {
    const subscription = this.of(webhookId);
    subscription.places -= places;
    if (subscription.places === 0) {
      this.active.delete(webhookId);
      this.others.set(webhookId, subscription);
    }
    count(this.byAccount, accountId, -places);
    this.give(places);
  }

  releaseTest(webhookId: string, accountId: string): void {
    count(this.testsByAccount, accountId, -1);
    this.release(webhookId, accountId);
  }

  /**
   * @param leasedAt when the lease was requested, by this object's clock
   * @returns whether the call may start; false after waiting too long for an earlier call to end, or
   * if the subscription was blocked since `leasedAt`
   */
  start(webhookId: string, leasedAt: number): Promise<boolean> {
    return this.of(webhookId).start(leasedAt);
  }

  /** Prevents the start of deliveries leased up to now. */
  block(webhookId: string): void {
    this.of(webhookId).block();
  }

  /** Starts a test regardless of the cap. */
  startTest(webhookId: string): void {
    this.of(webhookId).startAtOnce();
  }

  /** Ends a call and releases its place. @param call `answered`: whether the target answered at all */
  end(webhookId: string, accountId: string, call: { durationMs: number; answered: boolean }): void {
    this.of(webhookId).end(call);
    this.release(webhookId, accountId);
  }

  endTest(webhookId: string, accountId: string, call: { durationMs: number; answered: boolean }) {
    count(this.testsByAccount, accountId, -1);
    this.end(webhookId, accountId, call);
  }

  /** Prevents the start of waiting deliveries. */
  stop(): void {
    for (const subscription of this.active.values()) subscription.stop();
  }

  /** Whether to claim more of a subscription's deliveries: fewer wait here than half of its cap. */
  wantsMore(webhookId: string): boolean {
    return this.of(webhookId).wantsMore;
  }

  private roomFor(subscription: Subscription, accountId: string): number {
    const { free } = this;
    const slow = subscription.isSlow;
    const ofAccount = this.byAccount.get(accountId) ?? 0;
    const shared = Math.min(
      free - this.reserve,
      // As many as keep the account within its share of the slots that are free afterwards.
      Math.ceil((free * ACCOUNT_SHARE - ofAccount) / (1 + ACCOUNT_SHARE)),
      slow ? Math.ceil(this.slots * SLOW_SHARE) - this.takenBySlow() : Infinity,
    );
    const few = subscription.isQuick ? Math.min(FEW - subscription.places, free) : 0;
    return Math.min(subscription.most - subscription.places, Math.max(shared, few));
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

  private add(webhookId: string, accountId: string, places: number): void {
    const subscription = this.of(webhookId);
    subscription.places += places;
    this.active.set(webhookId, subscription);
    count(this.byAccount, accountId, places);
    this.taken += places;
  }

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
