import { Inject, Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { CONFIG, type Config } from '../config/config.js';
import { connectRedis, type RedisConnection } from './redis.js';

/** After Redis was away or slow it is not asked for so long: nobody else shall wait for it. */
const LEFT_ALONE_MS = 1_000;

/** Counters that all processes share, as long as Redis answers within a quarter of a second. */
@Injectable()
export class RedisLimits implements OnApplicationShutdown {
  /** In ms; connections have time-outs of their own, and those of a cluster add up. */
  protected readonly waitMs: number = 250;
  private readonly redis: RedisConnection;
  private leftAloneUntil = -Infinity;

  constructor(@Inject(CONFIG) config: Config) {
    this.redis = connectRedis(config, 'limits');
    // run() answers for it; without a listener ioredis would print every try.
    this.redis.on('error', () => undefined);
  }

  /**
   * Runs a script (Lua) on one key: in one round trip, and nothing comes between its commands.
   * @returns what it returns, never undefined; undefined where Redis is away or slow
   */
  async run(lua: string, key: string, values: readonly (string | number)[]): Promise<unknown> {
    if (performance.now() < this.leftAloneUntil) return undefined;
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<undefined>((resolve) => {
      timer = setTimeout(resolve, this.waitMs, undefined);
    });
    const asked = this.redis.eval(lua, 1, key, ...values).catch(() => undefined);
    const answer = await Promise.race([asked, late]);
    clearTimeout(timer);
    if (answer === undefined) this.leftAloneUntil = performance.now() + LEFT_ALONE_MS;
    return answer;
  }

  onApplicationShutdown(): void {
    this.redis.disconnect();
  }
}
