import { Module } from '@nestjs/common';
import { ActivityModule } from '../activity/activity.module.js';
import { IdentityModule } from '#libs/identity';
import { SubscriptionRecoverer } from './infrastructure/subscription-recoverer.js';
import { Recoveries } from './recoveries.js';

/** Starts and shows recoveries. */
@Module({ imports: [IdentityModule], providers: [Recoveries], exports: [Recoveries] })
export class RecoveriesModule {}

/** Carries out recoveries, in a worker. */
@Module({ imports: [ActivityModule], providers: [SubscriptionRecoverer] })
export class RecoveryWorkerModule {}
