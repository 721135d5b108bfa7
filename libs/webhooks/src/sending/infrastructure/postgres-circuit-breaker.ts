import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { evictOldest } from '#libs/kernel';
import { Database, GroupCommit, isTransient, isUnavailable, Log } from '#libs/runtime';
import {
  blocks,
  decide,
  followedBy,
  healthAfter,
  type Verdicts,
  verdictsOf,
} from '../../subscriptions/domain/subscription-life.js';
import { Activity, type Notice } from '../../activity/domain/activity.js';
import { CircuitBreaker, type TargetVerdict } from '../domain/circuit-breaker.js';
import { DeliveryMetrics } from '../delivery-metrics.js';
import {
  APPLY_DECISIONS,
  type Decided,
  decisionValues,
  knownHealth,
} from './circuit-breaker.statements.js';

/** How often a decision is repeated at once if another worker has changed the same health. */
const TRIES = 5;
const RETRY_MS = 1_000;
/** Older verdicts are dropped, because newer attempts show the same. */
const MAX_AGE_MS = 300_000;
const MAX_DEFERRED = 10_000;
/** Most deferred verdicts in one retry, because attempts that have just ended wait for it. */
const MAX_RETRIED = 1_000;

/** Combined verdicts on a target. `at`: the time of the last one, by `performance.now()`. */
interface Reported extends Omit<TargetVerdict, 'verdict'> {
  verdicts: Verdicts;
  at: number;
}

/** A request to retry deferred verdicts. */
const RETRY = Symbol('retry');

/**
 * Applies verdicts on targets in PostgreSQL. Attempts that end at the same time share a statement. If a
 * row is locked or PostgreSQL is down, verdicts are deferred in memory and retried together about once a
 * second.
 */
@Injectable()
export class PostgresCircuitBreaker extends CircuitBreaker implements OnApplicationShutdown {
  /** Batches run one at a time, which keeps the order of a target's verdicts. */
  private readonly group: GroupCommit<Reported | typeof RETRY, boolean>;
  /** Deferred verdicts by subscription. */
  private readonly deferred = new Map<string, Reported>();
  private timer: NodeJS.Timeout | undefined;
  private stopped = false;

  constructor(
    private readonly database: Database,
    private readonly metrics: DeliveryMetrics,
    private readonly activity: Activity,
    private readonly log: Log,
  ) {
    super();
    this.group = new GroupCommit((items) => this.batch(items));
  }

  report({ verdict, ...target }: TargetVerdict): Promise<boolean> {
    return this.group.one({ ...target, verdicts: verdictsOf(verdict), at: performance.now() });
  }

  /** Retries deferred verdicts once. If that fails, later attempts report the same. */
  async onApplicationShutdown(): Promise<void> {
    this.stopped = true;
    clearTimeout(this.timer);
    if (this.deferred.size > 0) await this.group.one(RETRY);
  }

  private async batch(items: readonly (Reported | typeof RETRY)[]): Promise<boolean[]> {
    const isRetry = items.includes(RETRY);
    const reported = new Map(isRetry ? this.removeDeferred() : []);
    for (const item of items) {
      if (item !== RETRY) merge(this.deferred.has(item.webhookId) ? this.deferred : reported, item);
    }
    let left: readonly Reported[] = [...reported.values()];
    const blocked = new Set<string>();
    try {
      for (let tries = TRIES; left.length > 0 && tries > 0; tries -= 1) {
        const decided = decidedOf(left);
        left = decided;
        for (const { webhookId, decision } of decided) if (blocks(decision)) blocked.add(webhookId);
        if (decided.length > 0) left = await this.applyDecisions(decided);
      }
    } catch (error) {
      // Logs at most once a second, and not while the database is down.
      if (isRetry && !(isUnavailable(error) || isTransient(error))) {
        this.log.error({ err: error }, 'verdicts on targets were not applied');
      }
    }
    this.defer(left);
    return items.map((item) => item !== RETRY && blocked.has(item.webhookId));
  }

  /** @returns the verdicts on targets whose health has changed meanwhile */
  private async applyDecisions(all: readonly (Reported & Decided)[]): Promise<Reported[]> {
    const rows = await this.database.run(APPLY_DECISIONS, decisionValues(all));
    const readAt = performance.now();
    const byId = new Map(rows.map((row) => [row.id, row]));
    const changed: Reported[] = [];
    const locked: Reported[] = [];
    for (const each of all) {
      const row = byId.get(each.webhookId);
      // It was disabled or deleted, or its target was replaced.
      if (!row) continue;
      const known = knownHealth(row.health, readAt);
      if (row.done) this.reportChange(each, row.toldBy ?? []);
      else if (known.stored === each.known.stored) locked.push(each);
      else changed.push({ ...each, known });
    }
    this.defer(locked);
    return changed;
  }

  private reportChange(
    { webhookId, accountId, known, decision, outcome }: Decided,
    notices: readonly Notice[],
  ): void {
    const { change, health } = decision;
    const wasFailing = known.failingMs !== null;
    const isFailing = health ? health.failingSince !== null : wasFailing;
    if (change !== undefined || isFailing !== wasFailing) {
      this.activity.report(accountId, { kind: 'webhook', id: webhookId });
    }
    for (const notice of notices) {
      this.activity.report(notice.accountId, { kind: 'event', id: notice.id });
    }
    if (change === undefined) return;
    this.metrics.healthChanged(change, outcome);
    this.log.info({ webhook: webhookId, change }, 'target health changed');
  }

  private defer(all: readonly Reported[]): void {
    for (const each of all) this.deferred.set(each.webhookId, each);
    evictOldest(this.deferred, MAX_DEFERRED);
    if (this.stopped || this.deferred.size === 0) return;
    this.timer ??= setTimeout(() => {
      this.timer = undefined;
      void this.group.one(RETRY);
    }, RETRY_MS).unref();
  }

  /** Removes the verdicts that were deferred first. */
  private removeDeferred(): [string, Reported][] {
    const oldest = performance.now() - MAX_AGE_MS;
    const removed = [...this.deferred].slice(0, MAX_RETRIED);
    for (const [id] of removed) this.deferred.delete(id);
    return removed.filter(([, { at }]) => at > oldest);
  }
}

/** Combines a verdict with earlier ones on the same target. Ignores verdicts on replaced targets. */
function merge(all: Map<string, Reported>, item: Reported): void {
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

/** Decides on each target. Omits those whose health does not change. */
function decidedOf(all: readonly Reported[]): (Reported & Decided)[] {
  const now = performance.now();
  return all.flatMap((reported) => {
    const { known, at } = reported;
    const verdicts = { ...reported.verdicts, holdMs: reported.verdicts.holdMs - (now - at) };
    const decision = decide(healthAfter(known, now - known.readAt), verdicts);
    return decision ? [{ ...reported, decision }] : [];
  });
}
