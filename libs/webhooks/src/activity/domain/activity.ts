/** Something that happened to an account's notifications. What it looks like is read when it is shown. */
export type Happening =
  /** An event with deliveries was accepted. */
  | { kind: 'event'; id: string }
  | { kind: 'delivery'; id: string }
  /** An attempt of the delivery with this id was recorded. */
  | { kind: 'attempt'; id: string; number: number }
  | { kind: 'webhook'; id: string };

/** Tells those who listen to an account's activity what happens. */
export abstract class Activity {
  /** Returns at once and never throws. Call it after the commit: a listener reads what was committed. */
  abstract report(accountId: string, happening: Happening): void;
}
