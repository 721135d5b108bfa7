/** What an account may hold, as a multiple of the slots that are free. */
const ACCOUNT_SHARE = 2;
/** What one subscription may hold, as a part of what its account may still take. */
export const SUBSCRIPTION_SHARE = 1 / 4;
/** What the tests of one account may hold, as a part of the slots that are free. */
const TEST_SHARE = 1 / 8;
/** Calls that a subscription begins with; each answer is one more, a time-out halves them. */
export const FIRST_CALLS = 4;
/** Subscriptions that are remembered: those that were called last. */
const REMEMBERED = 10_000;

/**
 * Decides whether one more call to a subscription may start in this worker.
 *
 * Dynamic thresholds, as in a switch's shared buffer, on two levels: an account may hold twice of
 * what is still free, and a subscription a part of what its account may still take. So a busy one
 * alone gets its full bound; and whoever is slow, slots remain for other accounts, and for the other
 * subscriptions of the same account. A target that does not answer at all gets few to begin with, as
 * a connection of TCP does: before it is known to hang, many could have taken all.
 */
export class DeliveryAdmission {
  private readonly bySubscription = new Map<string, number>();
  private readonly byAccount = new Map<string, number>();
  private readonly testsByAccount = new Map<string, number>();
  /** Calls that each subscription has earned, the latest called last. */
  private readonly earned = new Map<string, number>();
  private total = 0;

  /**
   * @param slots calls in flight in all
   * @param bound calls in flight to one subscription
   */
  constructor(
    private readonly slots: number,
    private readonly bound: number,
  ) {}

  /** Calls that a subscription may have in flight now, if it is the only one of its account. */
  get share(): number {
    return Math.max(1, this.shareOf(this.slots - this.total));
  }

  /** Calls that one account may have in flight now. */
  get accountShare(): number {
    return Math.max(1, (this.slots - this.total) * ACCOUNT_SHARE);
  }

  /** Takes a slot unless the subscription or its account has its share. */
  tryEnter(webhookId: string, accountId: string): boolean {
    const free = this.slots - this.total;
    const ofAccount = this.byAccount.get(accountId) ?? 0;
    const room = Math.min(free, free * ACCOUNT_SHARE - ofAccount);
    const share = Math.min(this.shareOf(room), this.earned.get(webhookId) ?? FIRST_CALLS);
    if ((this.bySubscription.get(webhookId) ?? 0) >= share) return false;
    this.enter(webhookId, accountId);
    return true;
  }

  /**
   * Takes a slot for a test, which is sent at once, whatever its subscription has in flight. Anybody
   * may ask for any number of them, of targets that hang: an account has a share of them, and keeps
   * its other calls.
   */
  tryEnterTest(webhookId: string, accountId: string): boolean {
    const share = Math.ceil((this.slots - this.total) * TEST_SHARE);
    if ((this.testsByAccount.get(accountId) ?? 0) >= share) return false;
    add(this.testsByAccount, accountId, 1);
    this.enter(webhookId, accountId);
    return true;
  }

  /** As {@link leave}, for a test. */
  leaveTest(webhookId: string, accountId: string, inVain: boolean): void {
    add(this.testsByAccount, accountId, -1);
    this.leave(webhookId, accountId, inVain);
  }

  /** @param inVain the slot was taken for long, and there was no answer */
  leave(webhookId: string, accountId: string, inVain: boolean): void {
    this.learn(webhookId, inVain);
    this.total -= 1;
    add(this.bySubscription, webhookId, -1);
    add(this.byAccount, accountId, -1);
  }

  /** How many calls each of these subscriptions has earned, as far as any is remembered. */
  earnings(webhookIds: Iterable<string> = this.earned.keys()): [string, number][] {
    return [...webhookIds].map((id) => [id, this.earned.get(id) ?? FIRST_CALLS]);
  }

  protected enter(webhookId: string, accountId: string): void {
    this.total += 1;
    add(this.bySubscription, webhookId, 1);
    add(this.byAccount, accountId, 1);
  }

  private learn(webhookId: string, inVain: boolean): void {
    const calls = this.earned.get(webhookId) ?? FIRST_CALLS;
    this.earned.delete(webhookId);
    this.earned.set(webhookId, inVain ? Math.ceil(calls / 2) : Math.min(calls + 1, this.bound));
    if (this.earned.size <= REMEMBERED) return;
    const [oldest] = this.earned.keys();
    if (oldest !== undefined) this.earned.delete(oldest);
  }

  private shareOf(room: number): number {
    return Math.min(this.bound, Math.ceil(room * SUBSCRIPTION_SHARE));
  }
}

function add(counts: Map<string, number>, key: string, change: number): void {
  const count = (counts.get(key) ?? 0) + change;
  if (count === 0) counts.delete(key);
  else counts.set(key, count);
}
