import { Injectable } from '@nestjs/common';
import { Database, Metrics } from '#libs/kernel';
import { type Attempt, ATTEMPT_ERRORS } from '../domain/delivery.js';
import { HEALTH_CHANGES, type HealthChange } from '../domain/pending-deliveries.js';
import { BullDeliveryQueue } from './bull-delivery.queue.js';

/** What is due may be looked at partition by partition; only the oldest of each is needed. */
const OLDEST_DUE = {
  name: 'metrics.oldest-due',
  text: `
SELECT coalesce(extract(epoch FROM now() - min(next_attempt_at)), 0)::float8 AS seconds
FROM due_deliveries(1) WHERE claimed_until IS NULL OR claimed_until <= now()`,
};

const PENDING = {
  name: 'metrics.pending',
  text: `SELECT count(*)::float8 AS deliveries FROM deliveries WHERE state = 'pending'`,
};

/** What a worker tells of delivering. */
@Injectable()
export class DeliveryMetrics {
  private readonly attempts;
  private readonly durations;
  private readonly firstDelays;
  private readonly finished;
  private readonly expiredClaims;
  private readonly healthChanges;

  constructor(metrics: Metrics, database: Database, queue: BullDeliveryQueue) {
    this.attempts = metrics.counter(
      'switchhook_attempts_total',
      'Attempts by outcome: class of the status, or the error of one without an answer.',
      { outcome: [...['2xx', '3xx', '4xx', '5xx'], ...ATTEMPT_ERRORS] },
    );
    this.durations = metrics.seconds(
      'switchhook_attempt_duration_seconds',
      'Time until the headers of the answer, or until the attempt failed.',
    );
    this.firstDelays = metrics.seconds(
      'switchhook_first_attempt_delay_seconds',
      'Time from the acceptance of an event to the first attempt of a delivery.',
    );
    this.finished = metrics.counter(
      'switchhook_deliveries_finished_total',
      'Deliveries that succeeded or were given up.',
      { state: ['succeeded', 'exhausted'] },
    );
    this.expiredClaims = metrics.counter(
      'switchhook_expired_claims_total',
      'Deliveries taken up again because a job or a worker was lost.',
    );
    this.healthChanges = metrics.counter(
      'switchhook_target_health_changes_total',
      'Circuits that opened, again at each probe that failed, and closed; subscriptions switched off.',
      { change: HEALTH_CHANGES },
    );
    metrics.gauge(
      'switchhook_oldest_due_age_seconds',
      'How long the delivery has been due that waits longest for the queue; the same in all workers.',
      async () => (await database.query<{ seconds: number }>(OLDEST_DUE, []))[0]?.seconds ?? 0,
    );
    metrics.gauge(
      'switchhook_pending_deliveries',
      'Deliveries that are not finished; the same in all workers.',
      async () => (await database.query<{ deliveries: number }>(PENDING, []))[0]?.deliveries ?? 0,
    );
    metrics.gauge(
      'switchhook_queue_jobs',
      'Jobs in the window, of up to ten deliveries each, all queues together.',
      () => queue.jobs(),
    );
  }

  attempted(attempt: Attempt, firstDelayMs: number | undefined): void {
    const { status, error, durationMs } = attempt;
    const outcome = status === undefined ? (error ?? 'protocol') : `${Math.floor(status / 100)}xx`;
    this.attempts.inc({ outcome });
    this.durations.observe(durationMs / 1_000);
    if (firstDelayMs !== undefined) this.firstDelays.observe(firstDelayMs / 1_000);
  }

  ended(state: 'succeeded' | 'exhausted', count = 1): void {
    this.finished.inc({ state }, count);
  }

  healthChanged(change: HealthChange): void {
    this.healthChanges.inc({ change });
  }

  claimsExpired(count: number): void {
    this.expiredClaims.inc(count);
  }
}
