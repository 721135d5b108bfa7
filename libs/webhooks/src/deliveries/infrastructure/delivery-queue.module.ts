import { BullModule, getQueueToken } from '@nestjs/bull';
import { type DynamicModule, Module } from '@nestjs/common';
import type { Queue } from 'bull';
import { CONFIG, type Config, connectRedis } from '#libs/runtime';
import { DeliveryQueue } from '../domain/delivery-queue.js';
import { BullDeliveryQueue } from './bull-delivery.queue.js';
import { type DeliveriesJob, DELIVERY_QUEUES, queueName, queuePrefix } from './delivery-queues.js';

/** The Bull queues of deliveries, and the port that adds to them. */
@Module({})
export class DeliveryQueueModule {
  private static readonly modules = new Map<number, DynamicModule>();

  /** Always the same module, so that all who import it share the queues. */
  static withShards(count: number): DynamicModule {
    const known = this.modules.get(count) ?? this.make(count);
    this.modules.set(count, known);
    return known;
  }

  private static make(count: number): DynamicModule {
    const shards = Array.from({ length: count }, (_, shard) => shard);
    return {
      module: DeliveryQueueModule,
      imports: [
        BullModule.registerQueueAsync(
          ...shards.map((shard) => ({
            name: queueName(shard),
            inject: [CONFIG],
            useFactory: (config: Config) => queueOptions(config, shard),
          })),
        ),
      ],
      providers: [
        {
          provide: DELIVERY_QUEUES,
          inject: shards.map((shard) => getQueueToken(queueName(shard))),
          useFactory: (...queues: Queue<DeliveriesJob>[]) => queues,
        },
        BullDeliveryQueue,
        { provide: DeliveryQueue, useExisting: BullDeliveryQueue },
      ],
      exports: [DELIVERY_QUEUES, BullDeliveryQueue, DeliveryQueue],
    };
  }
}

function queueOptions(config: Config, shard: number) {
  return {
    prefix: queuePrefix(shard),
    // The check sends INFO, which would block a queue that starts while Redis is down.
    skipVersionCheck: true,
    createClient: () => {
      const redis = connectRedis(config, 'commands');
      redis.on('error', () => undefined);
      return redis;
    },
  };
}
