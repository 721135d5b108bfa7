import { Module } from '@nestjs/common';
import { ActivityModule } from '../activity/activity.module.js';
import { IdentityModule } from '#libs/identity';
import { RecoveriesService } from './domain/recoveries.service.js';
import { RecoveryStore } from './domain/recovery.js';
import { PostgresRecoveryStore } from './infrastructure/postgres-recovery.store.js';
import { SubscriptionRecoverer } from './infrastructure/subscription-recoverer.js';

/** Starts and shows recoveries. */
@Module({
  imports: [IdentityModule],
  providers: [RecoveriesService, { provide: RecoveryStore, useClass: PostgresRecoveryStore }],
  exports: [RecoveriesService],
})
export class RecoveriesModule {}

/** Carries out recoveries, in a worker. */
@Module({ imports: [ActivityModule], providers: [SubscriptionRecoverer] })
export class RecoveryWorkerModule {}
