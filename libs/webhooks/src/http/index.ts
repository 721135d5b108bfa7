import { Module } from '@nestjs/common';
import { IdentityHttpModule } from '#libs/identity/http';
import { ClosingsModule } from '../closings/closings.module.js';
import { DeliveriesModule } from '../deliveries/deliveries.module.js';
import { DeliveriesController } from '../deliveries/http/deliveries.controller.js';
import { deliveriesRoutes } from '../deliveries/deliveries.openapi.js';
import { ErasuresController } from '../erasures/http/erasures.controller.js';
import { erasuresRoutes } from '../erasures/http/erasures.openapi.js';
import { ErasuresModule } from '../erasures/erasures.module.js';
import { EventsModule } from '../events/events.module.js';
import { EventsController } from '../events/http/events.controller.js';
import {
  eventsRoutes,
  filterPreviewsRoutes,
  missedEventsRoutes,
} from '../events/http/events.openapi.js';
import { FeedController } from '../events/http/feed.controller.js';
import { feedRoutes } from '../events/http/feed.openapi.js';
import { FilterPreviewsController } from '../events/http/filter-previews.controller.js';
import { MissedEventsController } from '../events/http/missed-events.controller.js';
import { OverviewController } from '../overview/http/overview.controller.js';
import { overviewRoutes } from '../overview/http/overview.openapi.js';
import { OverviewModule } from '../overview/overview.module.js';
import { RecoveriesController } from '../recoveries/http/recoveries.controller.js';
import { recoveriesRoutes } from '../recoveries/http/recoveries.openapi.js';
import { RecoveriesModule } from '../recoveries/recoveries.module.js';
import { ReplaysController } from '../replays/http/replays.controller.js';
import { replaysRoutes } from '../replays/http/replays.openapi.js';
import { ReplaysModule } from '../replays/replays.module.js';
import { StatisticsController } from '../statistics/http/statistics.controller.js';
import { statisticsRoutes } from '../statistics/http/statistics.openapi.js';
import { StatisticsModule } from '../statistics/statistics.module.js';
import { StreamController } from '../stream/http/stream.controller.js';
import { streamRoutes } from '../stream/http/stream.openapi.js';
import { StreamModule } from '../stream/stream.module.js';
import { WebhookActionsController } from '../subscriptions/http/webhook-actions.controller.js';
import { WebhookDefaultsController } from '../subscriptions/http/webhook-defaults.controller.js';
import { WebhooksController } from '../subscriptions/http/webhooks.controller.js';
import { subscriptionRoutes } from '../subscriptions/http/webhooks.openapi.js';
import { SubscriptionsModule } from '../subscriptions/subscriptions.module.js';

export { notifications } from '../sending/http/notification.openapi.js';

/** The routes of events. On their own, so that the API can register them first. */
@Module({
  imports: [EventsModule],
  controllers: [EventsController, MissedEventsController, FilterPreviewsController, FeedController],
})
export class EventsHttpModule {}

/** All other routes of this context. */
@Module({
  imports: [
    IdentityHttpModule,
    SubscriptionsModule,
    DeliveriesModule,
    StatisticsModule,
    ReplaysModule,
    RecoveriesModule,
    ErasuresModule,
    StreamModule,
    OverviewModule,
    ClosingsModule,
  ],
  controllers: [
    // Before the address of a subscription, which it would otherwise be.
    WebhookDefaultsController,
    WebhooksController,
    WebhookActionsController,
    DeliveriesController,
    StatisticsController,
    ReplaysController,
    StreamController,
    OverviewController,
    RecoveriesController,
    ErasuresController,
  ],
})
export class WebhooksHttpModule {}

/** This context's part of the API description. */
export const webhooksRoutes = [
  ...subscriptionRoutes,
  filterPreviewsRoutes,
  eventsRoutes,
  missedEventsRoutes,
  feedRoutes,
  deliveriesRoutes,
  statisticsRoutes,
  replaysRoutes,
  streamRoutes,
  overviewRoutes,
  recoveriesRoutes,
  erasuresRoutes,
];
