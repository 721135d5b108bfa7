import { type DynamicModule, Module, type OnApplicationBootstrap } from '@nestjs/common';
import { OutboundClient, OutboundModule } from '#libs/outbound';
import { CONFIG, type Config, Log, PROCESS_ID, SecretsModule, VERSION } from '#libs/runtime';
import { AttemptTrace } from '../domain/attempt-trace.js';
import { DeliveryRunner, DeliverySettings } from '../domain/delivery-runner.js';
import { PendingDeliveries } from '../domain/pending-deliveries.js';
import { TargetClient } from '../domain/target-client.js';
import { TargetVerdicts } from '../domain/target-verdicts.js';
import { WebhookSecrets } from '../../subscriptions/domain/webhook-secrets.js';
import { ActivityModule } from '../../subscriptions/infrastructure/activity.module.js';
import { AttemptCounter } from './attempt-counter.js';
import { BacklogMetrics } from './backlog-metrics.js';
import { DeliveriesUnderWay } from './deliveries-under-way.js';
import { DeliveryCanceller } from './delivery-canceller.js';
import { DeliveryConsumer } from './delivery.consumer.js';
import { DeliveryMetrics } from './delivery-metrics.js';
import { DeliveryReplayer } from './delivery-replayer.js';
import { DeliveryQueueModule } from './delivery-queue.module.js';
import { DueDeliveries } from './due-deliveries.js';
import { PendingDays } from './pending-days.js';
import { PostgresPendingDeliveries } from './postgres-pending-deliveries.js';
import { PostgresTargetVerdicts } from './postgres-target-verdicts.js';
import { Retention } from './retention.js';
import { TracedAttempts } from './traced-attempts.js';

/** Sends deliveries, from the queue and from PostgreSQL. */
@Module({})
export class DeliveryWorkerModule implements OnApplicationBootstrap {
  constructor(private readonly log: Log) {}

  onApplicationBootstrap(): void {
    this.log.info({ worker: PROCESS_ID }, 'attempts are recorded under this name');
  }

  /** @param shards `QUEUE_SHARDS` of the configuration */
  static withShards(shards: number): DynamicModule {
    return {
      module: DeliveryWorkerModule,
      imports: [
        ActivityModule,
        DeliveryQueueModule.withShards(shards),
        SecretsModule,
        OutboundModule,
      ],
      providers: [
        DeliveryRunner,
        AttemptCounter,
        DeliveriesUnderWay,
        DueDeliveries,
        PendingDays,
        BacklogMetrics,
        DeliveryCanceller,
        DeliveryReplayer,
        DeliveryConsumer,
        Retention,
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
    };
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
