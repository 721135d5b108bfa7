import { type DynamicModule, Module } from '@nestjs/common';
import { DeliveryQueueModule } from '../../deliveries/infrastructure/delivery-queue.module.js';
import { Overview } from '../domain/overview.js';
import { InstallationOverview } from '../infrastructure/installation-overview.js';
import { OverviewController } from './overview.controller.js';

/** The overview of the installation. */
@Module({})
export class OverviewHttpModule {
  /** @param shards `QUEUE_SHARDS` of the configuration */
  static withShards(shards: number): DynamicModule {
    return {
      module: OverviewHttpModule,
      imports: [DeliveryQueueModule.withShards(shards)],
      controllers: [OverviewController],
      providers: [{ provide: Overview, useClass: InstallationOverview }],
    };
  }
}
