/** Share of the free slots that one subscription may hold, and one account in all. */
const SUBSCRIPTION_SHARE = 1 / 4;
const ACCOUNT_SHARE = 2;

/**
 * Decides whether one more call to a subscription may start in this worker.
 *
 * Dynamic thresholds, as in a switch's shared buffer: a subscription may hold a part of what is
 * still free, an account twice of it. So a busy one alone gets its full bound, and however many
 * hang, free slots remain for the others.
 */
export class DeliveryAdmission {
  private readonly bySubscription = new Map<string, number>();
  private readonly byAccount = new Map<string, number>();
  private total = 0;

  /**
   * @param slots calls in flight in all
   * @param bound calls in flight to one subscription
   */
  constructor(
    private readonly slots: number,
    private readonly bound: number,
  ) {}

  /** Calls that one subscription may have in flight now. */
  get share(): number {
    return Math.max(
      1,
      Math.min(this.bound, Math.ceil((this.slots - this.total) * SUBSCRIPTION_SHARE)),
    );
  }

  /** Calls that one account may have in flight now. */
  get accountShare(): number {
    return Math.max(1, (this.slots - this.total) * ACCOUNT_SHARE);
  }

  /** Takes a slot unless the subscription or its account has its share. */
  tryEnter(webhookId: string, accountId: string): boolean {
    const ofSubscription = this.bySubscription.get(webhookId) ?? 0;
    const ofAccount = this.byAccount.get(accountId) ?? 0;
    if (ofSubscription >= this.share || ofAccount >= this.accountShare) return false;
    this.enter(webhookId, accountId);
    return true;
  }

  /** Takes a slot whatever the shares: for tests, which are sent at once. */
  enter(webhookId: string, accountId: string): void {
    this.total += 1;
    add(this.bySubscription, webhookId, 1);
    add(this.byAccount, accountId, 1);
  }

  leave(webhookId: string, accountId: string): void {
    this.total -= 1;
    add(this.bySubscription, webhookId, -1);
    add(this.byAccount, accountId, -1);
  }
}

function add(counts: Map<string, number>, key: string, change: number): void {
  const count = (counts.get(key) ?? 0) + change;
  if (count === 0) counts.delete(key);
  else counts.set(key, count);
}
