import { Module } from '@nestjs/common';
import { SubscriptionsModule } from '../subscriptions/subscriptions.module.js';
import { ActivityLog } from './domain/activity-log.js';
import { ActivityReader } from './domain/activity-reader.js';
import { PostgresActivityReader } from './infrastructure/postgres-activity.reader.js';
import { RedisActivityLog } from './infrastructure/redis-activity-log.js';

/** Reads an account's activity as it happens. */
@Module({
  imports: [SubscriptionsModule],
  providers: [
    { provide: ActivityLog, useClass: RedisActivityLog },
    { provide: ActivityReader, useClass: PostgresActivityReader },
  ],
  exports: [ActivityLog, ActivityReader],
})
export class StreamModule {}
