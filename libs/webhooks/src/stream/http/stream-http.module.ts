import { Module } from '@nestjs/common';
import { WebhooksModule } from '../../subscriptions/infrastructure/webhooks.module.js';
import { ActivityLog } from '../domain/activity-log.js';
import { ActivityReader } from '../domain/activity-reader.js';
import { PostgresActivityReader } from '../infrastructure/postgres-activity.reader.js';
import { RedisActivityLog } from '../infrastructure/redis-activity-log.js';
import { StreamController } from './stream.controller.js';

/** The stream of an account's activity. */
@Module({
  imports: [WebhooksModule],
  controllers: [StreamController],
  providers: [
    { provide: ActivityLog, useClass: RedisActivityLog },
    { provide: ActivityReader, useClass: PostgresActivityReader },
  ],
})
export class StreamHttpModule {}
