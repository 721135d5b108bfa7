import { Module } from '@nestjs/common';
import { DeliveriesModule } from '../deliveries/deliveries.module.js';
import { SubscriptionsModule } from '../subscriptions/subscriptions.module.js';
import { ActivityLog } from './activity-log.js';
import { ActivityReader } from './activity-reader.js';

/** Reads an account's activity as it happens. */
@Module({
  imports: [DeliveriesModule, SubscriptionsModule],
  providers: [ActivityLog, ActivityReader],
  exports: [ActivityLog, ActivityReader],
})
export class StreamModule {}
