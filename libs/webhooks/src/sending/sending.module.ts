import { Module, type OnApplicationBootstrap } from '@nestjs/common';
import { OutboundClient, OutboundModule } from '#libs/outbound';
import { CONFIG, type Config, Log, PROCESS_ID, SecretsModule, VERSION } from '#libs/runtime';
import { AttemptCountsModule } from '../statistics/statistics.module.js';
import { AttemptTrace } from './domain/attempt-trace.js';
import { DeliveryRunner, DeliverySettings } from './domain/delivery-runner.js';
import { PendingDeliveries } from './domain/pending-deliveries.js';
import { TargetClient } from './domain/target-client.js';
import { TargetVerdicts } from './domain/target-verdicts.js';
import { WebhookSecrets } from '../subscriptions/domain/webhook-secrets.js';
import { ActivityModule } from '../activity/activity.module.js';
import { BacklogMetrics } from './infrastructure/backlog-metrics.js';
import { DeliveriesUnderWay } from './infrastructure/deliveries-under-way.js';
import { DeliveryCanceller } from './infrastructure/delivery-canceller.js';
import { DeliveryConsumer } from './infrastructure/delivery.consumer.js';
import { DeliveryMetrics } from './infrastructure/delivery-metrics.js';
import { DueDeliveries } from './infrastructure/due-deliveries.js';
import { PendingDays } from './infrastructure/pending-days.js';
import { PostgresPendingDeliveries } from './infrastructure/postgres-pending-deliveries.js';
import { PostgresTargetVerdicts } from './infrastructure/postgres-target-verdicts.js';
import { TracedAttempts } from './infrastructure/traced-attempts.js';

/** Sends deliveries, from the queue and from PostgreSQL. */
@Module({
  imports: [ActivityModule, AttemptCountsModule, SecretsModule, OutboundModule],
  providers: [
    DeliveryRunner,
    DeliveriesUnderWay,
    DueDeliveries,
    PendingDays,
    BacklogMetrics,
    DeliveryCanceller,
    DeliveryConsumer,
    DeliveryMetrics,
    WebhookSecrets,
    { provide: TargetVerdicts, useClass: PostgresTargetVerdicts },
    { provide: AttemptTrace, useClass: TracedAttempts },
    { provide: PendingDeliveries, useClass: PostgresPendingDeliveries },
    {
      provide: TargetClient,
      inject: [OutboundClient],
      useFactory: (client: OutboundClient): TargetClient => client,
    },
    { provide: DeliverySettings, inject: [CONFIG], useFactory: settingsOf },
  ],
  exports: [DeliveryMetrics, PendingDays],
})
export class SendingModule implements OnApplicationBootstrap {
  constructor(private readonly log: Log) {}

  onApplicationBootstrap(): void {
    this.log.info({ worker: PROCESS_ID }, 'attempts are recorded under this name');
  }
}

function settingsOf(config: Config): DeliverySettings {
  return {
    atOnce: config.WORKER_CONCURRENCY,
    atOnceOfOne: config.DELIVERY_CONCURRENCY,
    timeoutMs: config.DELIVERY_TIMEOUT_MS,
    retrySchedule: config.DELIVERY_RETRY_SCHEDULE,
    userAgent: `Switchhook/${VERSION}`,
  };
}
