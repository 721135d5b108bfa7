import { LRUCache } from '#libs/kernel';
import { Subscription } from './subscription-calls.js';

/** What an account may hold, as a multiple of the slots that are free. */
const ACCOUNT_SHARE = 2;
/** Slots for subscriptions that answer quickly and hold few: a call that hangs cannot be taken back. */
const RESERVE = 1 / 8;
/** Places that count as few. */
const FEW = 4;
/** What all slow subscriptions together may hold, as a part of all slots. */
const SLOW_SHARE = 1 / 2;
/** What the tests of one account may hold, as a part of the slots that are free. */
const TEST_SHARE = 1 / 8;
/** Subscriptions without a place that are remembered: the ones called last. */
const REMEMBERED = 10_000;

/**
 * The calls that a worker may have in flight, shared out so that no party can hold up another.
 *
 * A delivery first holds a place, and then its call starts: at once, or when an earlier call to the
 * same subscription has ended. Places are limited four times: by the slots of the worker, by what a
 * subscription's cap allows, by the account's share (twice of what is free, as in a switch's shared
 * buffer), and, for subscriptions whose calls take long, by half of all slots. An eighth is kept for
 * subscriptions that answer quickly and hold few, whatever all others do.
 */
export class DeliverySlots {
  /** Called whenever a place was given back. */
  onRoom: () => void = () => undefined;
  /** Those without a place. */
  private readonly others = new LRUCache<string, Subscription>({ max: REMEMBERED });
  private readonly holding = new Map<string, Subscription>();
  private readonly byAccount = new Map<string, number>();
  private readonly testsByAccount = new Map<string, number>();
  private readonly entering: (() => void)[] = [];
  private readonly reserve: number;
  private held = 0;

  /**
   * @param slots calls in flight in all
   * @param bound calls in flight to one subscription
   */
  constructor(
    private readonly slots: number,
    private readonly bound: number,
    private readonly now: () => number = () => performance.now(),
  ) {
    this.reserve = Math.floor(slots * RESERVE);
  }

  get free(): number {
    return this.slots - this.held;
  }

  /** Resolves when there is a place for a delivery of which nothing is known yet. */
  async enter(): Promise<void> {
    if (this.free <= 0) await new Promise<void>((resolve) => this.entering.push(resolve));
    else this.held += 1;
  }

  /** Gives back the place of {@link enter}, for the one that `hold` takes now that more is known. */
  entered<Held>(hold: () => Held): Held {
    this.held -= 1;
    const held = hold();
    this.giveBack(0);
    return held;
  }

  /** Takes up to `most` places, and for what is slow one at a time. @returns how many it got */
  hold(webhookId: string, accountId: string, most = 1): number {
    const subscription = this.of(webhookId);
    const wanted = subscription.isSlow ? 1 : most;
    const places = Math.max(0, Math.min(wanted, this.roomFor(subscription, accountId)));
    if (places > 0) this.add(webhookId, accountId, places);
    return places;
  }

  /**
   * Takes a place for a test, which is sent at once, whatever its subscription has in flight. Anyone
   * may ask for any number of them, to targets that hang: an account has a share of them, and keeps its
   * other calls.
   */
  holdTest(webhookId: string, accountId: string): boolean {
    const tests = this.testsByAccount.get(accountId) ?? 0;
    if (tests >= Math.ceil(this.free * TEST_SHARE)) return false;
    count(this.testsByAccount, accountId, 1);
    this.add(webhookId, accountId, 1);
    return true;
  }

  /** Gives back places without having called. */
  release(webhookId: string, accountId: string, places = 1): void {
    const subscription = this.of(webhookId);
    subscription.places -= places;
    if (subscription.places === 0) {
      this.holding.delete(webhookId);
      this.others.set(webhookId, subscription);
    }
    count(this.byAccount, accountId, -places);
    this.giveBack(places);
  }

  releaseTest(webhookId: string, accountId: string): void {
    count(this.testsByAccount, accountId, -1);
    this.release(webhookId, accountId);
  }

  /**
   * @param leasedAt when its lease was asked for, by the clock of the slots
   * @returns whether the call may start; false after waiting too long for an earlier one to end, and
   * when the subscription was blocked since
   */
  start(webhookId: string, leasedAt: number): Promise<boolean> {
    return this.of(webhookId).start(leasedAt);
  }

  /** Nothing that was leased until now starts any more. */
  block(webhookId: string): void {
    this.of(webhookId).block();
  }

  /** A test starts whatever the cap. */
  startTest(webhookId: string): void {
    this.of(webhookId).startAtOnce();
  }

  /** The call has ended, and its place is free. @param answered whether the target answered at all */
  end(webhookId: string, accountId: string, call: { durationMs: number; answered: boolean }): void {
    this.of(webhookId).end(call);
    this.release(webhookId, accountId);
  }

  endTest(webhookId: string, accountId: string, call: { durationMs: number; answered: boolean }) {
    count(this.testsByAccount, accountId, -1);
    this.end(webhookId, accountId, call);
  }

  /** What waits for its call does not start any more. */
  stop(): void {
    for (const subscription of this.holding.values()) subscription.stop();
  }

  /** Whether it is worth looking for what waits of a subscription: half of what may wait here has started. */
  isHungry(webhookId: string): boolean {
    return this.of(webhookId).isHungry;
  }

  private roomFor(subscription: Subscription, accountId: string): number {
    const { free } = this;
    const slow = subscription.isSlow;
    const ofAccount = this.byAccount.get(accountId) ?? 0;
    const shared = Math.min(
      free - this.reserve,
      // As many as leave the account with less than its share of what is still free then.
      Math.ceil((free * ACCOUNT_SHARE - ofAccount) / (1 + ACCOUNT_SHARE)),
      slow ? Math.ceil(this.slots * SLOW_SHARE) - this.heldBySlow() : Infinity,
    );
    const few = subscription.isQuick ? Math.min(FEW - subscription.places, free) : 0;
    return Math.min(subscription.most - subscription.places, Math.max(shared, few));
  }

  private heldBySlow(): number {
    let held = 0;
    for (const each of this.holding.values()) if (each.isSlow) held += each.places;
    return held;
  }

  private of(webhookId: string): Subscription {
    const known = this.holding.get(webhookId) ?? this.others.get(webhookId);
    if (known) return known;
    const subscription = new Subscription(this.bound, this.now);
    this.others.set(webhookId, subscription);
    return subscription;
  }

  private add(webhookId: string, accountId: string, places: number): void {
    const subscription = this.of(webhookId);
    subscription.places += places;
    this.holding.set(webhookId, subscription);
    count(this.byAccount, accountId, places);
    this.held += places;
  }

  private giveBack(places: number): void {
    this.held -= places;
    while (this.free > 0 && this.entering.length > 0) {
      this.held += 1;
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
