import { Module } from '@nestjs/common';
import { IdentityModule } from '#libs/identity';
import { DeliveriesModule } from '../deliveries/deliveries.module.js';
import { SendingModule } from '../sending/sending.module.js';
import { SubscriptionsModule } from '../subscriptions/subscriptions.module.js';
import { ReplayStore } from './domain/replay.js';
import { ReplaysService } from './domain/replays.service.js';
import { DeliveryReplayer } from './infrastructure/delivery-replayer.js';
import { PostgresReplayStore } from './infrastructure/postgres-replay.store.js';

/** Starts, shows and cancels replays. */
@Module({
  imports: [DeliveriesModule, SubscriptionsModule, IdentityModule],
  providers: [ReplaysService, { provide: ReplayStore, useClass: PostgresReplayStore }],
  exports: [ReplaysService],
})
export class ReplaysModule {}

/** Carries out replays, in a worker. */
@Module({ imports: [SendingModule], providers: [DeliveryReplayer] })
export class ReplayWorkerModule {}
