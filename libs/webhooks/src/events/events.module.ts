import { Module } from '@nestjs/common';
import { IdentityModule } from '#libs/identity';
import { DeliveriesModule } from '../deliveries/deliveries.module.js';
import { AccountLoadsModule } from '../statistics/statistics.module.js';
import { SubscriptionsModule } from '../subscriptions/subscriptions.module.js';
import { EventReader, EventStore } from './domain/event.js';
import { EventsService } from './domain/events.service.js';
import { FilterPreviewsService } from './domain/filter-previews.service.js';
import { PostgresEventReader } from './infrastructure/postgres-event.reader.js';
import { PostgresEventStore } from './infrastructure/postgres-event.store.js';

/** Accepts and shows events. */
@Module({
  imports: [AccountLoadsModule, DeliveriesModule, SubscriptionsModule, IdentityModule],
  providers: [
    EventsService,
    FilterPreviewsService,
    { provide: EventReader, useClass: PostgresEventReader },
    { provide: EventStore, useClass: PostgresEventStore },
  ],
  exports: [EventsService, FilterPreviewsService],
})
export class EventsModule {}
