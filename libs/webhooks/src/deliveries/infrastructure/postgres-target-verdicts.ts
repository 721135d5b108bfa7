import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { keepNewest } from '#libs/kernel';
import { Database, GroupCommit, isTransient, isUnavailable, Log } from '#libs/runtime';
import {
  blocks,
  type Decision,
  decide,
  followedBy,
  healthAfter,
  NOW,
  type Verdicts,
  verdictsOf,
} from '../../subscriptions/domain/subscription-life.js';
import { type KnownHealth, type TargetVerdict, TargetVerdicts } from '../domain/target-verdicts.js';
import { DeliveryMetrics } from './delivery-metrics.js';
import { CARRY_OUT, knownHealth } from './target-verdict.statements.js';

/** Another worker may decide on the same health: so often the decision is made anew at once. */
const TRIES = 5;
const AGAIN_MS = 1_000;
/** The next attempts tell the same, so what is older is not worth it. */
const KEPT_MS = 300_000;
const MAX_ASIDE = 10_000;
/** Of those put aside, so many are tried at once: whoever has just ended an attempt waits for it. */
const MAX_AGAIN = 1_000;

/** What was told of a target. `at`: when the last of it was, by `performance.now()`. */
interface Told {
  webhookId: string;
  targetVersion: number;
  known: KnownHealth;
  verdicts: Verdicts;
  at: number;
}

interface Decided extends Told {
  decision: Decision;
}

/** Try what was put aside. */
const AGAIN = Symbol('again');

/**
 * Verdicts on targets, carried out in PostgreSQL. Those of attempts that end at the same time share a
 * statement; what it left for a lock, or for PostgreSQL being away, is put aside in memory, and shares
 * one about every second.
 */
@Injectable()
export class PostgresTargetVerdicts extends TargetVerdicts implements OnApplicationShutdown {
  /** One batch after the other keeps the order of what is told of a target. */
  private readonly group: GroupCommit<Told | typeof AGAIN, boolean>;
  /** By subscription. */
  private readonly aside = new Map<string, Told>();
  private timer: NodeJS.Timeout | undefined;
  private stopped = false;

  constructor(
    private readonly database: Database,
    private readonly metrics: DeliveryMetrics,
    private readonly log: Log,
  ) {
    super();
    this.group = new GroupCommit((items) => this.batch(items));
  }

  tell({ verdict, ...target }: TargetVerdict): Promise<boolean> {
    return this.group.one({ ...target, verdicts: verdictsOf(verdict), at: performance.now() });
  }

  /** Tries once more what is put aside; what is left by then, the next attempts tell. */
  async onApplicationShutdown(): Promise<void> {
    this.stopped = true;
    clearTimeout(this.timer);
    if (this.aside.size > 0) await this.group.one(AGAIN);
  }

  private async batch(items: readonly (Told | typeof AGAIN)[]): Promise<boolean[]> {
    const again = items.includes(AGAIN);
    const told = new Map(again ? this.takeAside() : []);
    for (const item of items) {
      if (item !== AGAIN) merge(this.aside.has(item.webhookId) ? this.aside : told, item);
    }
    let decided = decidedOf([...told.values()]);
    const blocked = new Set<string>();
    try {
      for (let tries = TRIES; decided.length > 0 && tries > 0; tries -= 1) {
        for (const { webhookId, decision } of decided) if (blocks(decision)) blocked.add(webhookId);
        decided = decidedOf(await this.carryOut(decided));
      }
    } catch (error) {
      // At most once a second; and a database that is away needs no line each time.
      if (again && !(isUnavailable(error) || isTransient(error))) {
        this.log.error({ err: error }, 'verdicts on targets were not carried out');
      }
    }
    this.putAside(decided);
    return items.map((item) => item !== AGAIN && blocked.has(item.webhookId));
  }

  /** @returns those whose health is another one by now */
  private async carryOut(all: readonly Decided[]): Promise<Told[]> {
    const rows = await this.database.run(CARRY_OUT, valuesOf(all));
    const readAt = performance.now();
    const byId = new Map(rows.map((row) => [row.id, row]));
    const changed: Told[] = [];
    const locked: Told[] = [];
    for (const each of all) {
      const row = byId.get(each.webhookId);
      // Switched off or deleted since, or it has another target.
      if (!row) continue;
      const known = knownHealth(row.health, readAt);
      if (row.done) this.report(each);
      else if (known.stored === each.known.stored) locked.push(each);
      else changed.push({ ...each, known });
    }
    this.putAside(locked);
    return changed;
  }

  private report({ webhookId, decision: { change } }: Decided): void {
    if (change === undefined) return;
    this.metrics.healthChanged(change);
    this.log.info({ webhook: webhookId, change }, 'health of a target');
  }

  private putAside(all: readonly Told[]): void {
    for (const each of all) this.aside.set(each.webhookId, each);
    keepNewest(this.aside, MAX_ASIDE);
    if (this.stopped || this.aside.size === 0) return;
    this.timer ??= setTimeout(() => {
      this.timer = undefined;
      void this.group.one(AGAIN);
    }, AGAIN_MS).unref();
  }

  /** Those that wait longest. */
  private takeAside(): [string, Told][] {
    const oldest = performance.now() - KEPT_MS;
    const taken = [...this.aside].slice(0, MAX_AGAIN);
    for (const [id] of taken) this.aside.delete(id);
    return taken.filter(([, { at }]) => at > oldest);
  }
}

/** Adds what was told of a target to what was told before it. What a replaced target did is void. */
function merge(all: Map<string, Told>, item: Told): void {
  const before = all.get(item.webhookId);
  if (before && before.targetVersion > item.targetVersion) return;
  if (before?.targetVersion !== item.targetVersion) {
    all.set(item.webhookId, item);
    return;
  }
  all.set(item.webhookId, {
    ...item,
    known: before.known.readAt > item.known.readAt ? before.known : item.known,
    verdicts: followedBy(before.verdicts, item.verdicts, item.at - before.at),
  });
}

/** What is to be done; where nothing changes, nothing. */
function decidedOf(all: readonly Told[]): Decided[] {
  const now = performance.now();
  return all.flatMap((told) => {
    const { known, at } = told;
    const verdicts = { ...told.verdicts, holdMs: told.verdicts.holdMs - (now - at) };
    const decision = decide(healthAfter(known, now - known.readAt), verdicts);
    return decision ? [{ ...told, decision }] : [];
  });
}

/** What was decided as arrays, a column each. */
function valuesOf(all: readonly Decided[]) {
  const health = all.map(({ decision }) => decision.health);
  return {
    webhookIds: all.map(({ webhookId }) => webhookId),
    targetVersions: all.map(({ targetVersion }) => targetVersion),
    stored: all.map(({ known }) => known.stored),
    failures: health.map((after) => after?.failures),
    openings: health.map((after) => after?.openings),
    failing: health.map((after) => (after?.failingSince === NOW ? 'now' : after?.failingSince)),
    openMs: health.map((after) => after?.openMs),
    holdMs: all.map(({ decision }) => decision.holdMs),
    off: all.map(({ decision }) => decision.off),
    backlog: all.map(({ decision }) => decision.backlog === true),
  };
}
