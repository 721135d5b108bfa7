import { Injectable } from '@nestjs/common';
import { Database, Metrics } from '#libs/runtime';
import { outcomeOf } from '../statistics/domain/attempt-history.js';
import { type Attempt, ATTEMPT_ERRORS } from '../deliveries/domain/delivery.js';
import { HEALTH_CHANGES, type HealthChange } from '../subscriptions/domain/subscription-life.js';
import { BullDeliveryQueue } from '../queue/bull-delivery.queue.js';
import { countPending, OLDEST_DUE } from './due-deliveries.statements.js';
import { PendingDays } from './pending-days.js';

/** Limit of the time spent on reading a gauge, as a share: the cost grows with the backlog. */
const SHARE = 0.05;
/** A reading that takes at most this long is repeated at every scrape. */
const SHORT_MS = 500;

const OUTCOMES = ['2xx', '3xx', '4xx', '5xx', ...ATTEMPT_ERRORS];

/** A worker's metrics of deliveries. */
@Injectable()
export class DeliveryMetrics {
  private readonly attempts;
  private readonly durations;
  private readonly firstDelays;
  private readonly finished;
  private readonly expiredLeases;
  private readonly refusedOutcomes;
  private readonly healthChanges;

  constructor(metrics: Metrics, queue: BullDeliveryQueue) {
    this.attempts = metrics.counter(
      'switchhook_attempts_total',
      'Attempts by outcome: the class of the status, or the error if there was no response.',
      { outcome: OUTCOMES },
    );
    this.durations = metrics.seconds(
      'switchhook_attempt_duration_seconds',
      'Time until the headers of the answer or the failure of the attempt.',
    );
    this.firstDelays = metrics.seconds(
      'switchhook_first_attempt_delay_seconds',
      'Time from accepting an event to the first attempt of a delivery.',
    );
    this.finished = metrics.counter(
      'switchhook_deliveries_finished_total',
      'Deliveries that succeeded or were exhausted.',
      { state: ['succeeded', 'exhausted'] },
    );
    this.expiredLeases = metrics.counter(
      'switchhook_expired_claims_total',
      'Deliveries claimed again because a job or a worker was lost.',
    );
    this.refusedOutcomes = metrics.counter(
      'switchhook_refused_outcomes_total',
      'Outcomes of attempts that PostgreSQL refused to record. The deliveries are sent again.',
    );
    this.healthChanges = metrics.counter(
      'switchhook_target_health_changes_total',
      'Circuits opened (once more for each failed probe) and closed, and subscriptions disabled, by the outcome of ' +
        'the last attempt.',
      { change: HEALTH_CHANGES, outcome: OUTCOMES },
    );
    metrics.gauge(
      'switchhook_queue_jobs',
      'Jobs on the queues of all shards, of up to ten deliveries each.',
      () => queue.jobs(),
      'max',
    );
  }

  attempted(attempt: Attempt, firstDelayMs: number | undefined): void {
    this.attempts.inc({ outcome: outcomeOf(attempt) });
    this.durations.observe(attempt.durationMs / 1_000);
    if (firstDelayMs !== undefined) this.firstDelays.observe(firstDelayMs / 1_000);
  }

  ended(state: 'succeeded' | 'exhausted', count = 1): void {
    this.finished.inc({ state }, count);
  }

  healthChanged(change: HealthChange, outcome: string): void {
    this.healthChanges.inc({ change, outcome });
  }

  outcomeRefused(): void {
    this.refusedOutcomes.inc();
  }

  leasesExpired(count: number): void {
    this.expiredLeases.inc(count);
  }
}

/** Metrics of deliveries waiting in PostgreSQL. Every worker reports them; autoscaling uses them. */
@Injectable()
export class BacklogMetrics {
  constructor(
    metrics: Metrics,
    private readonly database: Database,
    private readonly days: PendingDays,
  ) {
    metrics.gauge(
      'switchhook_oldest_due_age_seconds',
      'Age of the oldest due delivery that is in no queue and at no worker; the same in all workers.',
      cachedIfSlow(() => this.oldestDueS()),
      'max',
    );
    metrics.gauge(
      'switchhook_pending_deliveries',
      'Unfinished deliveries; the same in all workers.',
      cachedIfSlow(() => this.pending()),
      'max',
    );
  }

  private async oldestDueS(): Promise<number> {
    let oldestMs = 0;
    for (const day of await this.days.all()) {
      const [row] = await this.database.run(OLDEST_DUE(day));
      oldestMs = Math.max(oldestMs, row?.ageMs ?? 0);
    }
    return oldestMs / 1_000;
  }

  private async pending(): Promise<number> {
    let pending = 0;
    for (const day of await this.days.all()) {
      const [row] = await this.database.run(countPending(day));
      pending += row?.deliveries ?? 0;
    }
    return pending;
  }
}

/** Caches the value of a slow reading, for a time in proportion to how long it took. */
export function cachedIfSlow(
  read: () => Promise<number>,
  now = () => performance.now(),
): () => Promise<number> {
  let last: { value: number; until: number } | undefined;
  return async () => {
    const begunAt = now();
    if (last && begunAt < last.until) return last.value;
    const value = await read();
    const tookMs = now() - begunAt;
    last = tookMs > SHORT_MS ? { value, until: now() + tookMs * (1 / SHARE - 1) } : undefined;
    return value;
  };
}
