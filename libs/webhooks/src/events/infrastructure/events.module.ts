import { type DynamicModule, Module } from '@nestjs/common';
import { IdentityModule } from '#libs/identity';
import { AttemptHistoryStore } from '../../deliveries/domain/attempt-history.js';
import { DeliveriesService } from '../../deliveries/domain/deliveries.service.js';
import {
  DeliveryStatisticsService,
  DeliveryStatisticsStore,
} from '../../deliveries/domain/delivery-statistics.js';
import { DeliveryStore } from '../../deliveries/domain/delivery-store.js';
import { EventReader } from '../domain/event-reader.js';
import { EventStore } from '../domain/event-store.js';
import { EventsService } from '../domain/events.service.js';
import { ReplayStore } from '../../deliveries/domain/replay-store.js';
import { ReplaysService } from '../../deliveries/domain/replays.service.js';
import { DeliveryQueueModule } from '../../deliveries/infrastructure/delivery-queue.module.js';
import { PostgresAttemptHistoryStore } from '../../deliveries/infrastructure/postgres-attempt-history.store.js';
import { PostgresDeliveryStatisticsStore } from '../../deliveries/infrastructure/postgres-delivery-statistics.store.js';
import { PostgresDeliveryStore } from '../../deliveries/infrastructure/postgres-delivery.store.js';
import { PostgresEventReader } from './postgres-event.reader.js';
import { PostgresEventStore } from './postgres-event.store.js';
import { PostgresReplayStore } from '../../deliveries/infrastructure/postgres-replay.store.js';
import { WebhooksModule } from '../../subscriptions/infrastructure/webhooks.module.js';

/** Accepts events, and keeps the log of their deliveries. */
@Module({})
export class EventsModule {
  /** @param shards `QUEUE_SHARDS` of the configuration */
  static withShards(shards: number): DynamicModule {
    return {
      module: EventsModule,
      imports: [WebhooksModule, IdentityModule, DeliveryQueueModule.withShards(shards)],
      providers: [
        EventsService,
        DeliveriesService,
        { provide: EventReader, useClass: PostgresEventReader },
        { provide: EventStore, useClass: PostgresEventStore },
        DeliveryStatisticsService,
        { provide: AttemptHistoryStore, useClass: PostgresAttemptHistoryStore },
        { provide: DeliveryStatisticsStore, useClass: PostgresDeliveryStatisticsStore },
        { provide: DeliveryStore, useClass: PostgresDeliveryStore },
        ReplaysService,
        { provide: ReplayStore, useClass: PostgresReplayStore },
      ],
      exports: [EventsService, DeliveriesService, DeliveryStatisticsService, ReplaysService],
    };
  }
}
