import { Injectable } from '@nestjs/common';
import { Metrics } from '#libs/runtime';
import { DeliverySlots } from '../domain/delivery-slots.js';
import { DueDeliveries } from './due-deliveries.js';

/** Metrics of a worker's slots. Autoscaling uses them. */
@Injectable()
export class SlotMetrics {
  constructor(metrics: Metrics, slots: DeliverySlots, due: DueDeliveries) {
    metrics.gauge(
      'switchhook_slots',
      'The maximum number of deliveries that this worker attempts at the same time.',
      () => slots.total,
    );
    metrics.gauge(
      'switchhook_slots_used',
      'Slots that deliveries occupy: they wait for their call, or are in flight.',
      () => slots.used,
    );
    metrics.gauge(
      'switchhook_oldest_startable_age_seconds',
      'How long the oldest due delivery that a free slot of this worker could start has waited. Those that wait for a ' +
        'limit of their own subscription do not count.',
      () => due.longestStartableMs() / 1_000,
      'max',
    );
  }
}
