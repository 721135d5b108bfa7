import { Inject, Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { CONFIG, type Config } from '../config/config.js';
import { PROCESS_ID } from '../process-identity.js';
import { connectRedis, type RedisConnection } from './redis.js';

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

/** How long Redis is skipped after it was unavailable or slow, so that no other request waits for it. */
const SKIP_MS = 1_000;

/** Counters that all processes share while Redis answers within a quarter of a second. */
@Injectable()
export class RedisLimits implements OnApplicationShutdown {
  /** In ms. The timeouts of connections are not enough, because in a cluster they add up. */
  protected readonly waitMs: number = 250;
  private readonly redis: RedisConnection;
  private skipUntil = -Infinity;

  constructor(@Inject(CONFIG) config: Config) {
    this.redis = connectRedis(config, 'limits');
    // run() handles errors; without a listener, ioredis would print every attempt.
    this.redis.on('error', () => undefined);
  }

  /**
   * Runs a Lua script on one key, atomically and in one round trip.
   * @returns the script's result; undefined if Redis is unavailable or slow
   */
  async run(lua: string, key: string, values: readonly (string | number)[]): Promise<unknown> {
    if (performance.now() < this.skipUntil) return undefined;
    let timer: NodeJS.Timeout | undefined;
    const timeout = new Promise<undefined>((resolve) => {
      timer = setTimeout(resolve, this.waitMs, undefined);
    });
    const result = this.redis.eval(lua, 1, key, ...values).catch(() => undefined);
    const answer = await Promise.race([result, timeout]);
    clearTimeout(timer);
    if (answer === undefined) this.skipUntil = performance.now() + SKIP_MS;
    return answer;
  }

  onApplicationShutdown(): void {
    this.redis.disconnect();
  }
}
