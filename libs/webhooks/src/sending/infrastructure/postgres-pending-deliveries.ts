import { setTimeout as sleep } from 'node:timers/promises';
import { Inject, Injectable } from '@nestjs/common';
import {
  CONFIG,
  type Config,
  Database,
  GroupCommit,
  isRowError,
  isTransient,
  isUnavailable,
  Log,
  PAUSE,
  PROCESS_ID,
} from '#libs/runtime';
import type { DeliveryJob } from '../../queue/domain/delivery-queue.js';
import type { DueClaim } from '../domain/due-schedule.js';
import {
  holdsPlace,
  type LeasedDelivery,
  type Outcome,
  PendingDeliveries,
  RefusedOutcomeError,
} from '../domain/pending-deliveries.js';
import { WebhookSecrets } from '../../subscriptions/domain/webhook-secrets.js';
import { sortedById } from '../../partitions/row-lookups.js';
import {
  RELEASE,
  RELEASE_PLACE,
  type Released,
  releasesOf,
} from '../../queue/leases.statements.js';
import { DeliveryMetrics } from '../delivery-metrics.js';
import { CLAIM, CLAIM_IMMEDIATE, CLAIM_PACED, HAVE_EARLIER, PROBE } from './claim.statements.js';
import { PendingDays } from '../pending-days.js';
import { EXISTING, outcomeValues, RECORD, RECORD_PLACE } from './outcome.statements.js';
import { type Day, dayOf, eachDay } from '../../partitions/partition-days.js';
import {
  END_WITHOUT_EVENT,
  HAS_SUCCEEDED,
  type EventlessRow,
  leasedOf,
  type LeasedRow,
  LOAD,
} from './pending-delivery.statements.js';

const BATCH = { maxItems: 200 };
const LOADS = { ...BATCH, pause: PAUSE };
/**
 * Nothing waits for the record of an outcome, so at low rates several share a statement. If the worker is killed, those
 * that it has not recorded are sent again: no more than at higher rates.
 */
const RECORDS = { ...BATCH, gather: { ms: 25, atLeast: 8, longestMs: 100 } };
/** How long recording is retried while the row is locked or the database is down, in ms. */
const RETRIED_MS = 120_000;
const AGAIN_MS = 250;
/** The same at first for a place, on which other deliveries wait, and for the end of a lease. */
const LOCKED_AGAIN_MS = 10;
/** Margin in ms, because recording takes time: a delivery may be due this much earlier than scheduled. */
const DUE_SPARE_MS = 1_000;
/** For deliveries with an unknown due time. */
const LONGEST_DUE_MS = 1e12;

/** Unfinished deliveries in PostgreSQL. Concurrent calls for the same day share statements. */
@Injectable()
export class PostgresPendingDeliveries extends PendingDeliveries {
  private readonly loading = eachDay((day) => new GroupCommit(this.loadBatch(day), LOADS));
  private readonly releasing = eachDay((day) => new GroupCommit(this.releaseBatch(day), BATCH));
  private readonly releasingPlaces = eachDay(
    (day) => new GroupCommit(this.releaseBatch(day, RELEASE_PLACE), BATCH),
  );
  private readonly recording = eachDay((day) => new GroupCommit(this.recordBatch(day), RECORDS));
  /** Outcomes for locked rows are retried separately, so that others do not wait for them. */
  private readonly recordingAlone = eachDay((day) => new GroupCommit(this.recordBatch(day), BATCH));
  private readonly recordingPlaces = eachDay(
    (day) => new GroupCommit(this.recordBatch(day, RECORD_PLACE), BATCH),
  );
  private readonly timeoutMs: number;

  constructor(
    private readonly database: Database,
    private readonly secrets: WebhookSecrets,
    private readonly metrics: DeliveryMetrics,
    private readonly days: PendingDays,
    private readonly log: Log,
    @Inject(CONFIG) config: Config,
  ) {
    super();
    this.timeoutMs = config.DELIVERY_TIMEOUT_MS;
  }

  load(job: DeliveryJob): Promise<LeasedDelivery | undefined> {
    return this.loading(dayOf(job.id)).one(job);
  }

  async release(delivery: LeasedDelivery, delayMs = 0): Promise<void> {
    const { id, lease } = delivery;
    const releasing = holdsPlace(delivery) ? this.releasingPlaces : this.releasing;
    // PostgreSQL reports an error before it gives up the locks of the failed statement, and claims lock a subscription
    // for a moment. What stays locked is due, and its place free, when the lease ends.
    for (let ms = LOCKED_AGAIN_MS; ms <= AGAIN_MS; ms *= 2) {
      if (await releasing(dayOf(id)).one({ id, lease, delayMs })) return;
      await sleep(ms);
    }
  }

  async hasSucceeded(webhookId: string): Promise<boolean> {
    return (await this.database.run(HAS_SUCCEEDED, { webhookId })).length > 0;
  }

  /**
   * Leaves out the answer if PostgreSQL may refuse only that.
   * @throws Error if the row stays locked, or PostgreSQL down, for two minutes; RefusedOutcomeError
   */
  async record(outcome: Outcome): Promise<void> {
    const day = dayOf(outcome.id);
    const end = performance.now() + RETRIED_MS;
    const again = outcome.holdsPlace ? this.recordingPlaces : this.recordingAlone;
    let recording = outcome.holdsPlace ? again : this.recording;
    let againMs = outcome.holdsPlace ? LOCKED_AGAIN_MS : AGAIN_MS;
    let recorded = outcome;
    let refusal: unknown;
    for (; ; recording = again) {
      try {
        if (await recording(day).one(recorded)) {
          if (recorded !== outcome) {
            const fields = { err: refusal, delivery: outcome.id };
            this.log.warn(fields, 'an outcome was recorded without the answer');
          }
          return;
        }
        if (performance.now() > end) throw new Error('the row of the delivery stayed locked');
      } catch (error) {
        if (performance.now() > end) throw error;
        if (!isUnavailable(error) && !isTransient(error)) {
          if (!isRowError(error) || recorded !== outcome) throw new RefusedOutcomeError(error);
          [recorded, refusal] = [withoutAnswer(outcome), error];
        }
      }
      await sleep(againMs);
      againMs = Math.min(2 * againMs, AGAIN_MS);
    }
  }

  private loadBatch(day: Day) {
    return async (jobs: readonly DeliveryJob[]): Promise<(LeasedDelivery | undefined)[]> => {
      const askedAt = performance.now();
      const rows = await this.database.run(LOAD(day), {
        ids: jobs.map((job) => job.id),
        leases: jobs.map((job) => job.lease),
      });
      const byId = await this.leased(day, rows, askedAt);
      const others = jobs.filter(({ id }) => !byId.has(id));
      if (others.length > 0) await this.endLeases(day, others);
      return jobs.map((job) => {
        const delivery = byId.get(job.id);
        // Only one of two jobs gets the same delivery.
        byId.delete(job.id);
        return delivery;
      });
    };
  }

  async claim(claims: readonly DueClaim[]): Promise<LeasedDelivery[]> {
    const [{ day, immediate, pace }] = claims as [DueClaim];
    const probes = await this.probe(claims.filter((claim) => claim.probe));
    const behind = await this.haveEarlier(claims.filter((claim) => claim.pace === 'order'));
    const askedAt = performance.now();
    const values = {
      webhookIds: claims.map((claim) => claim.webhookId),
      most: claims.map((claim) => claim.most),
      dueForMs: claims.map((claim) => Math.min(claim.dueForMs + DUE_SPARE_MS, LONGEST_DUE_MS)),
      probes,
      timeoutMs: this.timeoutMs,
    };
    const rows =
      pace === null
        ? await this.database.run((immediate ? CLAIM_IMMEDIATE : CLAIM)(day), values)
        : await this.database.run(CLAIM_PACED(day), { ...values, behind });
    this.metrics.leasesExpired(rows.filter((row) => row.isExpired).length);
    return [...(await this.leased(day, rows, askedAt)).values()];
  }

  /** @returns the subscriptions whose probe this worker may send */
  private async probe(claims: readonly DueClaim[]): Promise<string[]> {
    if (claims.length === 0) return [];
    const webhookIds = claims.map(({ webhookId }) => webhookId);
    const rows = await this.database.run(PROBE, { webhookIds, timeoutMs: this.timeoutMs });
    return rows.map(({ id }) => id);
  }

  /** Which of these subscriptions have deliveries that come before those of the day before the claimed one. */
  private async haveEarlier(claims: readonly DueClaim[]): Promise<string[]> {
    if (claims.length === 0) return [];
    const webhookIds = claims.map(({ webhookId }) => webhookId);
    const [{ day }] = claims as [DueClaim];
    const earlier = (await this.days.all()).filter((one) => one < day - 1);
    const found = await Promise.all(
      earlier.map((one) => this.database.run(HAVE_EARLIER(one), { webhookIds })),
    );
    return found.flat().map(({ id }) => id);
  }

  /** Maps rows by id. Ends deliveries whose event was removed. */
  private async leased(
    day: Day,
    rows: readonly (LeasedRow | EventlessRow)[],
    askedAt: number,
  ): Promise<Map<string, LeasedDelivery>> {
    const eventless = rows.filter((row) => row.event === null);
    if (eventless.length > 0) {
      await this.database.run(END_WITHOUT_EVENT(day), { ids: eventless.map(({ id }) => id) });
      this.log.warn({ deliveries: eventless.length }, 'deliveries without an event were ended');
    }
    const leased = new Map<string, LeasedDelivery>();
    for (const row of rows) {
      if (row.event === null) continue;
      try {
        leased.set(row.id, leasedOf(row, this.secrets, askedAt));
      } catch (error) {
        // It is due again when its lease ends. The others of the statement must not wait for that.
        this.log.error({ err: error, delivery: row.id }, 'delivery could not be loaded');
      }
    }
    return leased;
  }

  private releaseBatch(day: Day, release = RELEASE) {
    return async (released: readonly Released[]): Promise<boolean[]> => {
      const rows = await this.endLeases(day, released, release);
      return released.map(({ id }) => rows.some((row) => row.id === id));
    };
  }

  private endLeases(day: Day, released: readonly Released[], release = RELEASE) {
    return this.database.run(release(day), releasesOf(released, this.timeoutMs));
  }

  /** A second outcome of the same delivery is recorded after the first has taken effect. */
  private recordBatch(day: Day, record = RECORD) {
    const batch = async (outcomes: readonly Outcome[]): Promise<boolean[]> => {
      const first = new Map<string, Outcome>();
      for (const outcome of outcomes) if (!first.has(outcome.id)) first.set(outcome.id, outcome);
      const done = await this.recordEach(day, sortedById([...first.values()]), record);
      const others = outcomes.filter((outcome) => first.get(outcome.id) !== outcome);
      const othersDone = others.length > 0 ? await batch(others) : [];
      return outcomes.map((outcome) => {
        const at = others.indexOf(outcome);
        return at < 0 ? done.has(outcome.id) : othersDone[at]!;
      });
    };
    return batch;
  }

  /** @returns the deliveries that need no retry */
  private async recordEach(
    day: Day,
    outcomes: readonly Outcome[],
    record: typeof RECORD,
  ): Promise<Set<string>> {
    const values = { ...outcomeValues(outcomes), worker: PROCESS_ID };
    const rows = await this.database.run(record(day), values);
    const done = new Set(rows.map(({ id }) => id));
    if (done.size === outcomes.length) return done;
    const left = outcomes.flatMap(({ id }) => (done.has(id) ? [] : [id]));
    const locked = await this.database.run(EXISTING(day), { ids: left });
    // Retention may have dropped the row, so there is nothing to update.
    for (const id of left) if (!locked.some((row) => row.id === id)) done.add(id);
    return done;
  }
}

/** What an attempt has of the target, and was sent to it, may be what PostgreSQL refuses. */
function withoutAnswer(outcome: Outcome): Outcome {
  const { number, at, durationMs, status, error } = outcome.attempt;
  const ended = { ...(status !== undefined && { status }), ...(error !== undefined && { error }) };
  return { ...outcome, attempt: { number, at, durationMs, ...ended, truncated: true } };
}
