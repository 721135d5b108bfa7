import { type DynamicModule, Module } from '@nestjs/common';
import { HealthModule, HttpModule, UnknownRouteModule } from '#libs/http';
import { type Config, RuntimeModule } from '#libs/runtime';
import {
  ErasureWorkerModule,
  ClosingWorkerModule,
  PartitionsModule,
  QueueModule,
  RecoveryWorkerModule,
  ReplayWorkerModule,
  RetentionModule,
  SendingModule,
} from '#libs/webhooks';

/** The delivery process: consumes the queue, and serves health and metrics on its own port. */
@Module({})
export class WorkerModule {
  static forConfig(config: Config): DynamicModule {
    return {
      module: WorkerModule,
      imports: [
        RuntimeModule.forProcess('worker', config),
        HttpModule,
        HealthModule,
        PartitionsModule,
        QueueModule.withShards(config.QUEUE_SHARDS),
        SendingModule,
        ReplayWorkerModule,
        RecoveryWorkerModule,
        ErasureWorkerModule,
        ClosingWorkerModule,
        RetentionModule,
        UnknownRouteModule,
      ],
    };
  }
}
