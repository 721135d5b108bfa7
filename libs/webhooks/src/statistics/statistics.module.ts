import { Module } from '@nestjs/common';
import { SubscriptionsModule } from '../subscriptions/subscriptions.module.js';
import { AttemptHistoryStore } from './domain/attempt-history.js';
import {
  DeliveryStatisticsService,
  DeliveryStatisticsStore,
} from './domain/delivery-statistics.js';
import { AccountLoadCounter } from './infrastructure/account-loads.js';
import { AttemptCounter, PostgresAttemptHistoryStore } from './infrastructure/attempt-counter.js';
import { PostgresDeliveryStatisticsStore } from './infrastructure/postgres-delivery-statistics.store.js';

/** Reads how attempts went. */
@Module({
  imports: [SubscriptionsModule],
  providers: [
    DeliveryStatisticsService,
    { provide: AttemptHistoryStore, useClass: PostgresAttemptHistoryStore },
    { provide: DeliveryStatisticsStore, useClass: PostgresDeliveryStatisticsStore },
  ],
  exports: [DeliveryStatisticsService],
})
export class StatisticsModule {}

/** Counts what each account causes, in any process. */
@Module({ providers: [AccountLoadCounter], exports: [AccountLoadCounter] })
export class AccountLoadsModule {}

/** Counts attempts, in a worker. */
@Module({ imports: [AccountLoadsModule], providers: [AttemptCounter], exports: [AttemptCounter] })
export class AttemptCountsModule {}
