import { evictOldest, groupBy } from '#libs/kernel';
import type { Run } from '#libs/runtime';
import {
  END_PARTS,
  FORGET_PARTS,
  LOOKED,
  NEXT_PARTS,
  type ReplayPart,
} from '../replay-progress.statements.js';

/** How many replays of an account continue in one run, chosen at random, so that others need not wait. */
const READY_OF_ONE = 10;
/** Limit of remembered positions. Without one, a look at an account begins with its first subscription. */
const MAX_POSITIONS = 10_000;

/**
 * Looks for replays that can continue: at a limited number of subscriptions with replays, of which only the oldest can. The
 * next look continues after them, and starts over at the end, so the cost of a look does not depend on how many wait.
 */
export class ReplayLook {
  /** The account after which the next look begins. */
  private account = '0';
  /** By account, the subscription after which its next look begins. */
  private readonly after = new Map<string, string>();

  constructor(private readonly run: Run) {}

  /** Removes what is over, and finds parts of replays that can continue. */
  async next(): Promise<ReplayPart[]> {
    const parts = await this.run(NEXT_PARTS, {
      account: this.account,
      accountIds: [...this.after.keys()],
      afters: [...this.after.values()],
    });
    const accounts = groupBy(parts, ({ accountId }) => accountId);
    for (const [accountId, of] of accounts) {
      this.after.delete(accountId);
      const last = of[LOOKED.subscriptions - 1];
      if (last) this.after.set(accountId, last.webhookId);
    }
    evictOldest(this.after, MAX_POSITIONS);
    const last = parts.at(-1);
    this.account = last && accounts.size === LOOKED.accounts ? last.accountId : '0';
    await this.remove(parts);
    return [...accounts.values()].flatMap((of) =>
      someOf(of.filter(({ fate }) => fate === 'ready')),
    );
  }

  private async remove(parts: readonly ReplayPart[]): Promise<void> {
    const over = parts.filter(({ fate }) => fate === 'over');
    if (over.length > 0) {
      const webhookIds = over.map(({ webhookId }) => webhookId);
      await this.run(END_PARTS, { ids: over.map(({ id }) => id), webhookIds });
    }
    const ended = new Set(parts.filter(({ fate }) => fate === 'ended').map(({ id }) => id));
    if (ended.size > 0) await this.run(FORGET_PARTS, { ids: [...ended] });
  }
}

function someOf<Item>(all: Item[]): Item[] {
  while (all.length > READY_OF_ONE) all.splice(Math.floor(Math.random() * all.length), 1);
  return all;
}
