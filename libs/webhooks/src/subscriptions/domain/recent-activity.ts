/** How the attempts of a subscription went in the last 24 hours. */
export interface RecentActivity {
  succeeded: number;
  failed: number;
  /** When the newest delivery was created; absent if that was more than seven days ago. */
  lastDeliveryAt?: Date;
}

/** Reads what has lately happened to subscriptions. */
export abstract class RecentActivityReader {
  /**
   * By the ids of subscriptions. Attempts are about ten seconds old.
   * @param ids of subscriptions of the account
   */
  abstract of(accountId: string, ids: readonly string[]): Promise<Map<string, RecentActivity>>;
}
