import { Inject, Injectable, type OnApplicationShutdown } from '@nestjs/common';
import type { RedisConnection } from './redis.js';
import { CONFIG, type Config } from '../config/config.js';
import { PROCESS_ID } from '../processes/process-id.js';
import { connectRedis } from './redis.js';

/** How long the key of a check is kept, in ms. */
const KEPT_MS = 1_000;

/** Checks whether Redis takes writes: a replica, and a Redis that is full or cannot save, still answers a PING. */
@Injectable()
export class RedisHealth implements OnApplicationShutdown {
  private readonly redis: RedisConnection;

  constructor(@Inject(CONFIG) config: Config) {
    this.redis = connectRedis(config, 'commands');
    // check() reports errors; without a listener, ioredis would print every attempt.
    this.redis.on('error', () => undefined);
  }

  /** @throws the error of Redis or of its connection */
  async check(): Promise<void> {
    await this.redis.set('switchhook:health', PROCESS_ID, 'PX', KEPT_MS);
  }

  onApplicationShutdown(): void {
    this.redis.disconnect();
  }
}
