import { type DynamicModule, Module } from '@nestjs/common';
import { type Config, KernelModule, PartitionKeeper } from '#libs/kernel';
import { HealthModule, KernelHttpModule, UnknownRouteModule } from '#libs/kernel/http';
import { DeliveryWorkerModule } from '#libs/webhooks';

/** The delivery process: consumes the queue, and serves its health on a port of its own. */
@Module({})
export class WorkerModule {
  static forConfig(config: Config): DynamicModule {
    return {
      module: WorkerModule,
      imports: [
        KernelModule.forProcess('worker'),
        KernelHttpModule,
        HealthModule.forProcess({ readyWithoutRedis: false, behindProxy: false }),
        DeliveryWorkerModule.withShards(config.QUEUE_SHARDS),
        UnknownRouteModule,
      ],
      providers: [PartitionKeeper],
    };
  }
}
