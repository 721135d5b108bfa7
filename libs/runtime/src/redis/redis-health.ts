import { Inject, Injectable, type OnApplicationShutdown } from '@nestjs/common';
import type { RedisConnection } from './redis.js';
import { CONFIG, type Config } from '../config/config.js';
import { connectRedis } from './redis.js';

/** Asks Redis whether it is there. */
@Injectable()
export class RedisHealth implements OnApplicationShutdown {
  private readonly redis: RedisConnection;

  constructor(@Inject(CONFIG) config: Config) {
    this.redis = connectRedis(config, 'commands');
    // ping() reports it; without a listener ioredis would print every try.
    this.redis.on('error', () => undefined);
  }

  async ping(): Promise<void> {
    await this.redis.ping();
  }

  onApplicationShutdown(): void {
    this.redis.disconnect();
  }
}
