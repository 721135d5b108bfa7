import { evictOldest, groupBy } from '#libs/kernel';
import type { Run } from '#libs/runtime';
import {
  ADD_PARTS,
  COMPLETE_REPLAYS,
  END_PARTS,
  FORGET_PARTS,
  LEAST_ID,
  LOOKED,
  NEXT_PARTS,
  NEXT_REPLAYS,
  NEXT_WITH_PARTS,
  type ReplayPart,
  type RunningReplay,
} from './replay-progress.statements.js';

/** How many replays of an account continue in one run, chosen at random, so that others need not wait. */
const READY_OF_ONE = 10;
/** Limit of remembered cursors, of accounts and of replays. Without a cursor, a look begins with the first one. */
const MAX_CURSORS = 10_000;

/**
 * Looks for replays that can continue. A look reads a limited number of running replays and of their parts. The next
 * look continues after them, and starts over at the end, so the cost of a look does not depend on how many wait.
 */
export class ReplayLook {
  /** The account after which the next look begins. */
  private account = '0';
  /** By account, the replay after which its next look begins. */
  private readonly afterReplay = new Map<string, string>();
  /** By replay, the subscription after which the next look at its parts begins. */
  private readonly afterPart = new Map<string, string>();
  /** The replay after which parts of ended replays are looked for. */
  private afterEnded = LEAST_ID;

  constructor(private readonly run: Run) {}

  /** Ends what is over, and finds parts of replays that can continue. */
  async next(): Promise<ReplayPart[]> {
    await this.forgetParts();
    const replays = await this.nextReplays();
    const withoutPart = replays.filter(({ isWithoutPart }) => isWithoutPart);
    if (withoutPart.length > 0) await this.run(ADD_PARTS, { ids: withoutPart.map(({ id }) => id) });
    const parts = await this.nextParts(replays);
    const over = parts.filter(({ fate }) => fate === 'over');
    if (over.length > 0) {
      const webhookIds = over.map(({ webhookId }) => webhookId);
      await this.run(END_PARTS, { ids: over.map(({ id }) => id), webhookIds });
    }
    const ready = parts.filter(({ fate }) => fate === 'ready');
    const ofAccounts = groupBy(ready, ({ accountId }) => accountId);
    return [...ofAccounts.values()].flatMap((all) => someOf(all, READY_OF_ONE));
  }

  private async nextReplays(): Promise<RunningReplay[]> {
    const rows = await this.run(NEXT_REPLAYS, {
      account: this.account,
      accountIds: [...this.afterReplay.keys()],
      afters: [...this.afterReplay.values()],
    });
    const accounts = groupBy(rows, ({ accountId }) => accountId);
    const replays: RunningReplay[] = [];
    for (const [accountId, of] of accounts) {
      const found = of.filter((row) => row.id !== null);
      advance(
        this.afterReplay,
        accountId,
        LOOKED.replays,
        found.map(({ id }) => id),
      );
      replays.push(...found);
    }
    const isLast = accounts.size < LOOKED.accounts;
    this.account = isLast ? '0' : greatestOf([...accounts.keys()]);
    return replays;
  }

  private async nextParts(replays: readonly RunningReplay[]): Promise<ReplayPart[]> {
    if (replays.length === 0) return [];
    const rows = await this.run(NEXT_PARTS, {
      replayIds: replays.map(({ id }) => id),
      afters: replays.map(({ id }) => this.afterPart.get(id) ?? '0'),
    });
    const parts: ReplayPart[] = [];
    const empty: string[] = [];
    for (const [id, of] of groupBy(rows, (row) => row.id)) {
      const found = of.filter((row) => row.webhookId !== null);
      if (found.length === 0 && !this.afterPart.has(id)) empty.push(id);
      advance(
        this.afterPart,
        id,
        LOOKED.parts,
        found.map(({ webhookId }) => webhookId),
      );
      parts.push(...found);
    }
    if (empty.length > 0) await this.run(COMPLETE_REPLAYS, { ids: empty });
    return parts;
  }

  private async forgetParts(): Promise<void> {
    const found = await this.run(NEXT_WITH_PARTS, { after: this.afterEnded });
    this.afterEnded = (found.length === LOOKED.replays ? found.at(-1)?.id : undefined) ?? LEAST_ID;
    const ids = found.filter(({ hasEnded }) => hasEnded).map(({ id }) => id);
    if (ids.length > 0) await this.run(FORGET_PARTS, { ids });
  }
}

/** Stores where the next look at an owner begins. */
function advance(
  cursors: Map<string, string>,
  owner: string,
  most: number,
  found: readonly string[],
): void {
  const last = found.length < most ? undefined : found.at(-1);
  if (last === undefined) cursors.delete(owner);
  else cursors.set(owner, last);
  evictOldest(cursors, MAX_CURSORS);
}

function greatestOf(ids: readonly string[]): string {
  return ids.reduce((one, other) => (BigInt(one) > BigInt(other) ? one : other));
}

function someOf<Item>(all: readonly Item[], most: number): Item[] {
  if (all.length <= most) return [...all];
  return all
    .map((item) => ({ item, rank: Math.random() }))
    .sort((one, other) => one.rank - other.rank)
    .slice(0, most)
    .map(({ item }) => item);
}
