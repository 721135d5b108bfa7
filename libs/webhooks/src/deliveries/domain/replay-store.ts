import type { Replay, ReplayRange } from './replay.js';

/** Where replays are kept. A worker carries them out. */
export abstract class ReplayStore {
  /** How many deliveries of the subscription there are; tests do not count. Accounts take turns. */
  abstract count(accountId: string, webhookId: string, range: ReplayRange): Promise<number>;

  /**
   * Counts, as {@link count} does.
   * @returns its id; undefined: the subscription is off or deleted, or has as many running as it may have
   */
  abstract start(
    accountId: string,
    webhookId: string,
    range: ReplayRange,
  ): Promise<string | undefined>;

  /**
   * Whether so many replays of the subscription were started in a time that has just passed.
   * @returns ms until the oldest of them is past; 0 if there were fewer
   */
  abstract msUntilFewer(
    webhookId: string,
    { times, withinMs }: { times: number; withinMs: number },
  ): Promise<number>;

  abstract find(id: string, accountId: string): Promise<Replay | undefined>;

  /** Ends it. @returns false when it has ended before */
  abstract cancel(id: string): Promise<boolean>;
}
