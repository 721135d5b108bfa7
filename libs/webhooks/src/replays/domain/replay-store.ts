import type { Replay, ReplayCount, ReplayFilter } from './replay.js';

/** Stores replays. Workers carry them out. */
export abstract class ReplayStore {
  /**
   * How many deliveries the filter selects, without tests. Concurrency is shared fairly by account.
   */
  abstract count(accountId: string, filter: ReplayFilter): Promise<ReplayCount>;

  /**
   * Starts a replay of what {@link count} counts as `deliveries`.
   * @returns its id; undefined if the subscription is off or deleted, or if too many replays of it are
   * running; without a subscription, if too many such replays of the account are running
   */
  abstract start(accountId: string, filter: ReplayFilter): Promise<string | undefined>;

  /**
   * Whether at least `times` replays of the subscription, or of the account and no single subscription, were
   * started in the last `withinMs`.
   * @returns ms until fewer count; 0 if there are fewer now
   */
  abstract msUntilFewer(
    of: { accountId: string; webhookId: string | undefined },
    { times, withinMs }: { times: number; withinMs: number },
  ): Promise<number>;

  abstract find(id: string, accountId: string): Promise<Replay | undefined>;

  /** @returns false if the replay had already ended */
  abstract cancel(id: string): Promise<boolean>;

  /** Whether the application belongs, or belonged before its deletion, to the account. */
  abstract ownsApplication(accountId: string, applicationId: string): Promise<boolean>;
}
