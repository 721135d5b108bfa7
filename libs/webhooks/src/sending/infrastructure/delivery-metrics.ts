import { Injectable } from '@nestjs/common';
import { Metrics } from '#libs/runtime';
import { outcomeOf } from '../../statistics/domain/attempt-counts.js';
import { type Attempt, ATTEMPT_ERRORS } from '../../deliveries/domain/delivery.js';
import { HEALTH_CHANGES, type HealthChange } from '../../subscriptions/domain/subscription-life.js';
import { BullDeliveryQueue } from '../../queue/infrastructure/bull-delivery.queue.js';

/** A worker's metrics of deliveries. */
@Injectable()
export class DeliveryMetrics {
  private readonly attempts;
  private readonly durations;
  private readonly firstDelays;
  private readonly finished;
  private readonly expiredLeases;
  private readonly healthChanges;

  constructor(metrics: Metrics, queue: BullDeliveryQueue) {
    this.attempts = metrics.counter(
      'switchhook_attempts_total',
      'Attempts by outcome: class of the status, or the error if there was no answer.',
      { outcome: [...['2xx', '3xx', '4xx', '5xx'], ...ATTEMPT_ERRORS] },
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
    this.healthChanges = metrics.counter(
      'switchhook_target_health_changes_total',
      'Circuits opened (once more for each failed probe) and closed, and subscriptions switched off.',
      { change: HEALTH_CHANGES },
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

  healthChanged(change: HealthChange): void {
    this.healthChanges.inc({ change });
  }

  leasesExpired(count: number): void {
    this.expiredLeases.inc(count);
  }
}
