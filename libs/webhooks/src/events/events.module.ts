import { Module } from '@nestjs/common';
import { IdentityModule } from '#libs/identity';
import { DeliveriesModule } from '../deliveries/deliveries.module.js';
import { AccountLoadsModule } from '../statistics/statistics.module.js';
import { SubscriptionsModule } from '../subscriptions/subscriptions.module.js';
import { EventReader, EventStore } from './domain/event.js';
import { FeedHorizon, FeedReader } from './domain/feed.js';
import { FeedService } from './domain/feed.service.js';
import { FeedWaiters } from './domain/feed-waiters.js';
import { EventsService } from './domain/events.service.js';
import { FilterPreviewsService } from './domain/filter-previews.service.js';
import { PostgresEventReader } from './infrastructure/postgres-event.reader.js';
import { PostgresFeedHorizon } from './infrastructure/postgres-feed-horizon.js';
import { PostgresFeedReader } from './infrastructure/postgres-feed.reader.js';
import { PostgresEventStore } from './infrastructure/postgres-event.store.js';

/** Accepts and shows events, and feeds them to followers. */
@Module({
  imports: [AccountLoadsModule, DeliveriesModule, SubscriptionsModule, IdentityModule],
  providers: [
    EventsService,
    FilterPreviewsService,
    FeedService,
    FeedWaiters,
    { provide: FeedHorizon, useClass: PostgresFeedHorizon },
    { provide: FeedReader, useClass: PostgresFeedReader },
    { provide: EventReader, useClass: PostgresEventReader },
    { provide: EventStore, useClass: PostgresEventStore },
  ],
  exports: [EventsService, FeedService, FilterPreviewsService],
})
export class EventsModule {}
