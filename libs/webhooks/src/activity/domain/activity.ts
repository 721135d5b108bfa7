/** A change of an account's events, deliveries or subscriptions. Only its id is logged; readers load the rest. */
export type Change =
  /** An event with deliveries was accepted. */
  | { kind: 'event'; id: string }
  | { kind: 'delivery'; id: string }
  /** An attempt of the delivery with this id was recorded. */
  | { kind: 'attempt'; id: string; number: number }
  | { kind: 'webhook'; id: string };

/** An event that tells an account of the change of a subscription. */
export interface Notice {
  id: string;
  accountId: string;
}

/** Reports changes to the listeners of an account. */
export abstract class Activity {
  /** Returns at once and never throws. Call it after the commit: a listener reads what was committed. */
  abstract report(accountId: string, change: Change): void;
}
