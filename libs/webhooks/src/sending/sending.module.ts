import { Module } from '@nestjs/common';
import { OutboundClient, OutboundModule } from '#libs/outbound';
import { CONFIG, type Config, SecretsModule, VERSION } from '#libs/runtime';
import { AttemptCountsModule } from '../statistics/statistics.module.js';
import { CircuitBreaker } from './domain/circuit-breaker.js';
import { AttemptTrace, DeliveryRunner, DeliverySettings } from './domain/delivery-runner.js';
import { DeliverySlots } from './domain/delivery-slots.js';
import { Hold } from './domain/hold.js';
import { PendingDeliveries } from './domain/pending-deliveries.js';
import { TargetClient } from './domain/target-client.js';
import { WebhookSecrets } from '../subscriptions/domain/webhook-secrets.js';
import { ActivityModule } from '../activity/activity.module.js';
import { DeliveriesInFlight, TracedAttempts } from './infrastructure/deliveries-in-flight.js';
import { DeliveryCanceller } from './infrastructure/delivery-canceller.js';
import { DeliveryConsumer } from './infrastructure/delivery.consumer.js';
import { BacklogMetrics, DeliveryMetrics } from './delivery-metrics.js';
import { DueDeliveries } from './infrastructure/due-deliveries.js';
import { HoldReport } from './infrastructure/hold-report.js';
import { PendingDays } from './pending-days.js';
import { SlotMetrics } from './infrastructure/slot-metrics.js';
import { PostgresCircuitBreaker } from './infrastructure/postgres-circuit-breaker.js';
import { PostgresPendingDeliveries } from './infrastructure/postgres-pending-deliveries.js';

/** Sends deliveries, from the queue and from PostgreSQL. */
@Module({
  imports: [ActivityModule, AttemptCountsModule, SecretsModule, OutboundModule],
  providers: [
    DeliveryRunner,
    DeliveriesInFlight,
    DueDeliveries,
    PendingDays,
    BacklogMetrics,
    SlotMetrics,
    DeliveryCanceller,
    DeliveryConsumer,
    DeliveryMetrics,
    WebhookSecrets,
    HoldReport,
    {
      provide: Hold,
      inject: [HoldReport],
      useFactory: (report: HoldReport) => new Hold((cause) => report.changed(cause)),
    },
    { provide: CircuitBreaker, useClass: PostgresCircuitBreaker },
    { provide: AttemptTrace, useClass: TracedAttempts },
    { provide: PendingDeliveries, useClass: PostgresPendingDeliveries },
    {
      provide: TargetClient,
      inject: [OutboundClient],
      useFactory: (client: OutboundClient): TargetClient => client,
    },
    { provide: DeliverySettings, inject: [CONFIG], useFactory: settingsOf },
    {
      provide: DeliverySlots,
      inject: [CONFIG, Hold],
      useFactory: (config: Config, hold: Hold) =>
        new DeliverySlots(config.WORKER_CONCURRENCY, config.DELIVERY_CONCURRENCY, hold),
    },
  ],
  exports: [DeliveryMetrics, PendingDays],
})
export class SendingModule {}

function settingsOf(config: Config): DeliverySettings {
  return {
    timeoutMs: config.DELIVERY_TIMEOUT_MS,
    retrySchedule: config.DELIVERY_RETRY_SCHEDULE,
    userAgent: `Switchhook/${VERSION}`,
  };
}
