import { type DynamicModule, Module } from '@nestjs/common';
import { HealthModule, HttpModule, UnknownRouteModule } from '#libs/http';
import { type Config, RuntimeModule } from '#libs/runtime';
import { DeliveryWorkerModule, PartitionKeeper } from '#libs/webhooks';

/** The delivery process: consumes the queue, and serves health and metrics on its own port. */
@Module({})
export class WorkerModule {
  static forConfig(config: Config): DynamicModule {
    return {
      module: WorkerModule,
      imports: [
        RuntimeModule.forProcess('worker', config),
        HttpModule,
        HealthModule.forProcess({ readyWithoutRedis: false, behindProxy: false }),
        DeliveryWorkerModule.withShards(config.QUEUE_SHARDS),
        UnknownRouteModule,
      ],
      providers: [PartitionKeeper],
    };
  }
}
