import { Module } from '@nestjs/common';
import { Activity } from './domain/activity.js';
import { RedisActivity } from './redis-activity.js';

/** Tells listeners what happens; {@link Activity}. */
@Module({
  providers: [{ provide: Activity, useClass: RedisActivity }],
  exports: [Activity],
})
export class ActivityModule {}
