import { Inject, Injectable } from '@nestjs/common';
import type { Queue } from 'bull';
import {
  CONFIG,
  type Config,
  Database,
  isUnavailable,
  Log,
  type RedisConnection,
  type Statement,
  Turns,
} from '#libs/kernel';
import { FIRST_CALLS, SUBSCRIPTION_SHARE } from '../domain/delivery-admission.js';
import { DeliveryRunner } from '../domain/delivery-runner.js';
import { BullDeliveryQueue } from './bull-delivery.queue.js';
import { type ClaimedRow, queuedDelivery } from './claimed-row.js';
import { FEED_ALL, FEED_GIVEN, FEED_IMMEDIATE } from './delivery-feeder.statements.js';
import { leaseMs } from './delivery-lease.js';
import { DeliveryMetrics } from './delivery-metrics.js';
import { DELIVERY_QUEUES, queuePrefix } from './delivery-queues.js';
import { Rounds } from './rounds.js';
import { WorkerRoll } from './worker-roll.js';

/** How often all subscriptions are looked at, and what part of the time that may take. */
const LOOKS = { everyMs: 500, share: 0.1 };
/** The same of tests. They pass by the window: at most so many at a time. */
const TESTS = { everyMs: 500, share: 0.1 };
const MOST_TESTS = 100;
/**
 * The same of the subscriptions whose deliveries finished. What these have in the window is read as well, so the
 * more comes in at a time, the less is read for each; but the window must not run empty meanwhile.
 */
const REFILLS = { everyMs: 500, share: 1 / 3 };
/** What part of all slots the targets that fail may have together. */
const FAILING_SHARE = 1 / 2;

interface FedRow extends ClaimedRow {
  /** It was claimed before, and the claim ended. */
  expired: boolean;
}

/**
 * Brings what is due from PostgreSQL into the queue's window: retries, backlogs, and jobs that
 * were lost, all in the same way. Runs in every worker; they share the work by locking rows.
 */
@Injectable()
export class DeliveryFeeder {
  private readonly lease: number;
  private readonly slots: number;
  private readonly window: number;
  private readonly roll: WorkerRoll;
  private readonly finishedSubscriptions = new Set<string>();
  /** Two at once would find the same deliveries due. */
  private readonly turns = new Turns({ atOnce: 1 });
  private readonly looks = this.rounds(() => this.look(), LOOKS);
  private readonly refills = this.rounds(() => this.refill(), REFILLS);
  private readonly tests = this.rounds(
    () => this.claim(FEED_IMMEDIATE, [MOST_TESTS, this.lease]),
    TESTS,
  );
  private workers = 1;

  constructor(
    private readonly database: Database,
    private readonly queue: BullDeliveryQueue,
    private readonly runner: DeliveryRunner,
    private readonly metrics: DeliveryMetrics,
    private readonly log: Log,
    @Inject(DELIVERY_QUEUES) queues: readonly Queue[],
    @Inject(CONFIG) config: Config,
  ) {
    this.lease = leaseMs(config);
    this.slots = config.WORKER_CONCURRENCY;
    this.window = config.QUEUE_WINDOW;
    const redis = queues[0]?.client as RedisConnection;
    this.roll = new WorkerRoll(redis, `${queuePrefix(0)}:workers`, this.lease);
  }

  start(): void {
    for (const rounds of [this.looks, this.refills, this.tests]) rounds.start();
  }

  /** Ends after what is under way. */
  async stop(): Promise<void> {
    await Promise.all([this.looks, this.refills, this.tests].map((rounds) => rounds.stop()));
    await this.roll.leave().catch(() => undefined);
  }

  /**
   * A delivery of a subscription with a backlog is done: there is room for its next one.
   * @param failed if its target fails now, what it may be sent depends on all others that fail
   */
  finished(webhookId: string, failed: boolean): void {
    this.finishedSubscriptions.add(webhookId);
    this.refills.soon();
    if (failed) this.looks.soon();
  }

  private async look(): Promise<void> {
    this.workers = await this.roll.call();
    await this.feed(FEED_ALL);
  }

  private async refill(): Promise<void> {
    if (this.finishedSubscriptions.size === 0) return;
    const given = [...this.finishedSubscriptions];
    this.finishedSubscriptions.clear();
    await this.feed(FEED_GIVEN, given);
  }

  /** @param given the subscriptions that the statement looks at; by default all */
  private async feed(statement: Statement, given?: string[]): Promise<void> {
    const room = await this.queue.room();
    if (room === 0) return;
    const { admission } = this.runner;
    // Of many subscriptions, not all that each may have is read: so much could not come in.
    const most = 2 * this.window + this.slots * this.workers;
    const fair = given ? Math.ceil(most / given.length) : Infinity;
    const earnings = Object.fromEntries(
      admission.earnings(given).map(([webhookId, calls]) => [webhookId, calls * this.workers]),
    );
    await this.claim(statement, [
      room,
      this.lease,
      Math.min(admission.share * this.workers, fair),
      admission.accountShare * this.workers,
      SUBSCRIPTION_SHARE,
      JSON.stringify(earnings),
      FIRST_CALLS * this.workers,
      Math.ceil(this.slots * FAILING_SHARE) * this.workers,
      ...(given ? [given] : []),
    ]);
  }

  private async claim(statement: Statement, values: unknown[]): Promise<void> {
    const rows = await this.database.run<FedRow>(statement, values);
    this.metrics.claimsExpired(rows.filter((row) => row.expired).length);
    await this.queue.add(rows.map(queuedDelivery));
  }

  private rounds(work: () => Promise<void>, often: typeof LOOKS): Rounds {
    return new Rounds(() => this.guarded(work), { ...often, turns: this.turns });
  }

  /** A store that is away is looked for again in half a second, and needs no line each time. */
  private async guarded(work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      const message = error instanceof Error ? error.message : '';
      if (
        isUnavailable(error) ||
        /Connection is closed|writeable|max retries|Command timed out/i.test(message)
      )
        return;
      this.log.error({ err: error }, 'deliveries could not be fed');
    }
  }
}
