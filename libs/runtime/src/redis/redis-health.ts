import { Inject, Injectable, type OnApplicationShutdown } from '@nestjs/common';
import type { RedisConnection } from './redis.js';
import { CONFIG, type Config } from '../config/config.js';
import { connectRedis } from './redis.js';

/** Checks whether Redis answers. */
@Injectable()
export class RedisHealth implements OnApplicationShutdown {
  private readonly redis: RedisConnection;

  constructor(@Inject(CONFIG) config: Config) {
    this.redis = connectRedis(config, 'commands');
    // ping() reports errors; without a listener, ioredis would print every attempt.
    this.redis.on('error', () => undefined);
  }

  async ping(): Promise<void> {
    await this.redis.ping();
  }

  onApplicationShutdown(): void {
    this.redis.disconnect();
  }
}
