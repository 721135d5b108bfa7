import { Module } from '@nestjs/common';
import { IdentityModule } from '#libs/identity';
import { SubscriptionsModule } from '../subscriptions/subscriptions.module.js';
import { DeliveriesService } from './domain/deliveries.service.js';
import { DeliveryStore } from './domain/delivery.js';
import { PostgresDeliveryStore } from './infrastructure/postgres-delivery.store.js';

/** The log of deliveries and their attempts. */
@Module({
  imports: [SubscriptionsModule, IdentityModule],
  providers: [DeliveriesService, { provide: DeliveryStore, useClass: PostgresDeliveryStore }],
  exports: [DeliveriesService, DeliveryStore],
})
export class DeliveriesModule {}
