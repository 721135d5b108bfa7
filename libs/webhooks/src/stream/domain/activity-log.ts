import type { Happening } from '../../activity/domain/activity.js';

/** An entry of an account's activity. `interrupted`: entries before it may be missing. */
export interface Entry {
  /** Where to resume after it. */
  place: string;
  happening: Happening | 'interrupted';
}

/** A reader of an account's activity. */
export interface Follower {
  /** Where it begins: everything that happens later is read. */
  readonly start: string;
  /**
   * The next entries, in order; none if nothing happened for a while.
   * @returns undefined once it is closed
   */
  next(): Promise<Entry[] | undefined>;
  close(): void;
}

/** The recent activity of accounts. */
export abstract class ActivityLog {
  /**
   * Resolves once nothing is missed any more.
   * @param after the place to resume after; undefined to begin now
   * @param end closes the follower, even if it was aborted before
   * @throws RateLimitedError if the account has too many followers; UnavailableError
   */
  abstract follow(
    accountId: string,
    after: string | undefined,
    end: AbortSignal,
  ): Promise<Follower>;
}
