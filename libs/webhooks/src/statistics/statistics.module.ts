import { Module } from '@nestjs/common';
import { ActivityModule } from '../activity/activity.module.js';
import { SubscriptionsModule } from '../subscriptions/subscriptions.module.js';
import { AccountLoadCounter } from './account-loads.js';
import { AttemptCounter } from './attempt-counter.js';
import { DeliveryResults } from './delivery-results.js';
import { Statistics } from './statistics.js';

/** Reads how attempts went. */
@Module({ imports: [SubscriptionsModule], providers: [Statistics], exports: [Statistics] })
export class StatisticsModule {}

/** Counts what each account causes, in any process. */
@Module({ providers: [AccountLoadCounter], exports: [AccountLoadCounter] })
export class AccountLoadsModule {}

/** Counts attempts and their results, in a worker. */
@Module({
  imports: [AccountLoadsModule, ActivityModule],
  providers: [AttemptCounter, DeliveryResults],
  exports: [AttemptCounter, DeliveryResults],
})
export class AttemptCountsModule {}
