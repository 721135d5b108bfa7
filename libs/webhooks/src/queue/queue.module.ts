import { BullModule, getQueueToken } from '@nestjs/bull';
import { type DynamicModule, Module } from '@nestjs/common';
import type { Queue } from 'bull';
import { CONFIG, type Config, connectRedis, RedisHealth } from '#libs/runtime';
import { DeliveryQueue } from './domain/delivery-queue.js';
import { BullDeliveryQueue } from './bull-delivery.queue.js';
import { DELIVERY_QUEUES, queueName, queueOptions } from './delivery-queues.js';
import { QueueAvailability } from './infrastructure/queue-availability.js';

/** The Bull queues of deliveries, and the port that adds to them, for all modules of the process. */
@Module({})
export class QueueModule {
  /** @param count `QUEUE_SHARDS` of the configuration */
  static withShards(count: number): DynamicModule {
    const shards = Array.from({ length: count }, (_, shard) => shard);
    return {
      global: true,
      module: QueueModule,
      imports: [
        BullModule.registerQueueAsync(
          ...shards.map((shard) => ({
            name: queueName(shard),
            inject: [CONFIG],
            useFactory: (config: Config) =>
              queueOptions(shard, () => connectRedis(config, 'commands')),
          })),
        ),
      ],
      providers: [
        {
          provide: DELIVERY_QUEUES,
          inject: shards.map((shard) => getQueueToken(queueName(shard))),
          useFactory: (...queues: Queue[]) => queues,
        },
        BullDeliveryQueue,
        { provide: DeliveryQueue, useExisting: BullDeliveryQueue },
        QueueAvailability,
        { provide: RedisHealth, useExisting: QueueAvailability },
      ],
      exports: [DELIVERY_QUEUES, BullDeliveryQueue, DeliveryQueue, RedisHealth],
    };
  }
}
