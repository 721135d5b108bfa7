import { Module } from '@nestjs/common';
import { IdentityModule } from '#libs/identity';
import { SendingModule } from '../sending/sending.module.js';
import { SubscriptionsModule } from '../subscriptions/subscriptions.module.js';
import { DeliveryReplayer } from './infrastructure/delivery-replayer.js';
import { Replays } from './replays.js';

/** Starts, shows and cancels replays. */
@Module({
  imports: [SubscriptionsModule, IdentityModule],
  providers: [Replays],
  exports: [Replays],
})
export class ReplaysModule {}

/** Carries out replays, in a worker. */
@Module({ imports: [SendingModule], providers: [DeliveryReplayer] })
export class ReplayWorkerModule {}
