import { setTimeout as sleep } from 'node:timers/promises';
import { Inject, Injectable } from '@nestjs/common';
import {
  CONFIG,
  type Config,
  Database,
  GroupCommit,
  isTransient,
  isUnavailable,
  Log,
} from '#libs/kernel';
import type { DeliveryJob } from '../domain/delivery.js';
import {
  type CalledTarget,
  type HealthChange,
  type Observation,
  type Outcome,
  PendingDeliveries,
  type ReleaseCause,
  type TakenDelivery,
} from '../domain/pending-deliveries.js';
import { FAILING_MS } from '../domain/webhook.js';
import { WebhookSecrets } from '../domain/webhook-secrets.js';
import { boundsOf, inOrder } from './delivery-by-key.js';
import { leaseMs } from './delivery-lease.js';
import { DeliveryMetrics } from './delivery-metrics.js';
import {
  END_WITHOUT_EVENT,
  HOLD,
  OBSERVE,
  RECORD,
  RELEASE,
  SWITCH_OFF,
  TAKE,
} from './pending-delivery.statements.js';
import { type EventlessRow, takenOf, type TakenRow } from './taken-row.js';

const MAX_BATCH = 200;
/** How long a job or an outcome waits for a database that is away, before it is left to its claim. */
const TRIES = 20;
const RETRY_MS = 500;

/** Pending deliveries in PostgreSQL; concurrent jobs share statements. */
@Injectable()
export class PostgresPendingDeliveries extends PendingDeliveries {
  private readonly taking: GroupCommit<DeliveryJob, TakenDelivery | undefined>;
  private readonly releasing: GroupCommit<{ taken: TakenDelivery; cause: ReleaseCause }, undefined>;
  private readonly observing: GroupCommit<Observation, undefined>;
  private readonly recording: GroupCommit<Outcome, undefined>;
  private readonly lease: number;

  constructor(
    private readonly database: Database,
    private readonly secrets: WebhookSecrets,
    private readonly metrics: DeliveryMetrics,
    private readonly log: Log,
    @Inject(CONFIG) config: Config,
  ) {
    super();
    this.lease = leaseMs(config);
    const bound = { maxItems: MAX_BATCH };
    this.taking = new GroupCommit((jobs) => this.takeBatch(jobs), bound);
    this.releasing = new GroupCommit((items) => this.releaseBatch(items), bound);
    // The order of successes and failures counts; that one batch comes after the other keeps it.
    this.observing = new GroupCommit((items) => this.observeBatch(items));
    this.recording = new GroupCommit((outcomes) => this.recordBatch(outcomes), bound);
  }

  take(job: DeliveryJob): Promise<TakenDelivery | undefined> {
    return patiently(() => this.taking.one(job));
  }

  release(taken: TakenDelivery, cause: ReleaseCause): Promise<void> {
    return patiently(() => this.releasing.one({ taken, cause }));
  }

  async record(outcome: Outcome): Promise<void> {
    await patiently(() => this.recording.one(outcome));
  }

  async observe(observation: Observation): Promise<void> {
    await patiently(() => this.observing.one(observation));
  }

  async switchOff({ webhookId, targetVersion }: CalledTarget): Promise<void> {
    await patiently(() => this.database.run(SWITCH_OFF, [webhookId, targetVersion]));
  }

  async hold({ webhookId, targetVersion }: CalledTarget, forMs: number): Promise<void> {
    await patiently(() => this.database.run(HOLD, [webhookId, targetVersion, forMs]));
  }

  private async takeBatch(jobs: readonly DeliveryJob[]): Promise<(TakenDelivery | undefined)[]> {
    // Of two jobs of one delivery, that of the later attempt is no older than what is stored.
    const sorted = inOrder([...jobs].sort((one, other) => one.attempt - other.attempt));
    const asked = sorted.map((job) => job.id);
    const rows = await this.database.run<TakenRow | EventlessRow>(TAKE, [
      asked,
      sorted.map((job) => job.attempt),
      this.lease,
      ...boundsOf(asked),
    ]);
    const whole = rows.filter((row) => row.event !== null);
    if (whole.length < rows.length) {
      const ids = rows.filter((row) => row.event === null).map((row) => row.id);
      await this.database.run(END_WITHOUT_EVENT, [ids]);
      this.log.warn({ deliveries: ids.length }, 'deliveries without an event were ended');
    }
    const byId = new Map(whole.map((row) => [row.id, row]));
    return jobs.map((job) => {
      const row = byId.get(job.id);
      // Whichever of its jobs it is: the row says which attempt this is.
      byId.delete(job.id);
      return row && takenOf(row, this.secrets);
    });
  }

  private async releaseBatch(
    items: readonly { taken: TakenDelivery; cause: ReleaseCause }[],
  ): Promise<undefined[]> {
    const subscriptions = (...causes: ReleaseCause[]): string[] => [
      ...new Set(
        items.filter(({ cause }) => causes.includes(cause)).map(({ taken }) => taken.webhookId),
      ),
    ];
    await this.database.run(RELEASE, [
      items.map(({ taken }) => taken.id),
      items.map(({ taken }) => taken.take),
      subscriptions('no_share', 'held'),
      subscriptions('cancelled'),
    ]);
    return [];
  }

  private async observeBatch(observations: readonly Observation[]): Promise<undefined[]> {
    const tallies = tallied(observations);
    const rows = await this.database.run<{ id: string; change: HealthChange | null }>(OBSERVE, [
      tallies.map(({ webhookId }) => webhookId),
      tallies.map(({ targetVersion }) => targetVersion),
      tallies.map(({ succeeded }) => succeeded),
      tallies.map(({ failures }) => failures),
      FAILING_MS,
    ]);
    for (const { id, change } of rows) {
      if (change === null) continue;
      this.metrics.healthChanged(change);
      this.log.info({ webhook: id, change }, 'health of a target');
    }
    return [];
  }

  /** Of two outcomes of one delivery the second is judged by what the first has changed. */
  private async recordBatch(outcomes: readonly Outcome[]): Promise<undefined[]> {
    const first = new Map<string, Outcome>();
    for (const outcome of outcomes) if (!first.has(outcome.id)) first.set(outcome.id, outcome);
    await this.recordEach(inOrder([...first.values()]));
    const others = outcomes.filter((outcome) => first.get(outcome.id) !== outcome);
    return others.length > 0 ? this.recordBatch(others) : [];
  }

  private async recordEach(outcomes: readonly Outcome[]): Promise<void> {
    const attempts = outcomes.map((outcome) => outcome.attempt);
    const conclusions = outcomes.map((outcome) => outcome.conclusion);
    const ids = outcomes.map((outcome) => outcome.id);
    await this.database.run(RECORD, [
      ids,
      outcomes.map((outcome) => outcome.take),
      attempts.map((attempt) => attempt.number),
      attempts.map((attempt) => attempt.at.toISOString()),
      attempts.map((attempt) => Math.round(attempt.durationMs)),
      attempts.map((attempt) => attempt.status ?? null),
      attempts.map((attempt) => attempt.error ?? null),
      attempts.map((attempt) => attempt.address ?? null),
      attempts.map(({ responseHeaders }) => responseHeaders && JSON.stringify(responseHeaders)),
      attempts.map((attempt) => attempt.responseBody ?? null),
      attempts.map((attempt) => attempt.truncated),
      conclusions.map((conclusion) => conclusion.state),
      conclusions.map((conclusion) => ('reason' in conclusion ? conclusion.reason : null)),
      conclusions.map((conclusion) => ('delayMs' in conclusion ? conclusion.delayMs : null)),
      ...boundsOf(ids),
    ]);
  }
}

/** What came of one target: whether anything succeeded, and how much failed since. */
type Tally = Observation & { failures: number };

function tallied(observations: readonly Observation[]): Tally[] {
  const tallies = new Map<string, Tally>();
  for (const observation of observations) {
    const key = `${observation.webhookId} ${observation.targetVersion}`;
    const { succeeded = false, failures = 0 } = tallies.get(key) ?? {};
    const tally = observation.succeeded
      ? { succeeded: true, failures: 0 }
      : { succeeded, failures: failures + 1 };
    tallies.set(key, { ...observation, ...tally });
  }
  return [...tallies.values()];
}

/**
 * A job is worth a wait, and a hand-back: it would come again only when its claim ends. So is what
 * an answer led to: without it the target would be called again. A wait is 10 s and longer where a
 * connection is not refused at once; claims that end meanwhile do no harm.
 */
async function patiently<Result>(work: () => Promise<Result>): Promise<Result> {
  for (let tries = TRIES; ; tries -= 1) {
    try {
      return await work();
    } catch (error) {
      if (!(isUnavailable(error) || isTransient(error)) || tries === 0) throw error;
      await sleep(RETRY_MS);
    }
  }
}
