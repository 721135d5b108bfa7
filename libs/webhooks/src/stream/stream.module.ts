import { Module } from '@nestjs/common';
import { SubscriptionsModule } from '../subscriptions/subscriptions.module.js';
import { ActivityLog } from './activity-log.js';
import { ActivityReader } from './activity-reader.js';

/** Reads an account's activity as it happens. */
@Module({
  imports: [SubscriptionsModule],
  providers: [ActivityLog, ActivityReader],
  exports: [ActivityLog, ActivityReader],
})
export class StreamModule {}
