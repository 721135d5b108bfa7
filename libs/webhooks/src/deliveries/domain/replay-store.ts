import type { Replay, ReplayRange } from './replay.js';

/** Stores replays. Workers carry them out. */
export abstract class ReplayStore {
  /** How many deliveries are in the range, without tests. Concurrency is shared fairly by account. */
  abstract count(accountId: string, webhookId: string, range: ReplayRange): Promise<number>;

  /**
   * Starts a replay, and counts like {@link count}.
   * @returns its id; undefined if the subscription is off, deleted or at its limit of running replays
   */
  abstract start(
    accountId: string,
    webhookId: string,
    range: ReplayRange,
  ): Promise<string | undefined>;

  /**
   * Whether the subscription has started at least `times` replays in the last `withinMs`.
   * @returns ms until fewer count; 0 if there are fewer now
   */
  abstract msUntilFewer(
    webhookId: string,
    { times, withinMs }: { times: number; withinMs: number },
  ): Promise<number>;

  abstract find(id: string, accountId: string): Promise<Replay | undefined>;

  /** @returns false if the replay had already ended */
  abstract cancel(id: string): Promise<boolean>;
}
