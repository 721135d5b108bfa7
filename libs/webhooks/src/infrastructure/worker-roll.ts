import { randomUUID } from 'node:crypto';
import type { RedisConnection } from '#libs/kernel';

/** By Redis' own clock, so that those of the workers do not matter. */
const CALL = `
local now = tonumber(redis.call('TIME')[1])
redis.call('ZADD', KEYS[1], now, ARGV[1])
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now - tonumber(ARGV[2]))
redis.call('EXPIRE', KEYS[1], 60)
return redis.call('ZCARD', KEYS[1])`;

/**
 * Counts the workers, so that the window holds enough for all of them. One that was killed counts
 * until its claims have ended: they are in the window for so long, and nobody works on them.
 */
export class WorkerRoll {
  private readonly me = randomUUID();

  constructor(
    private readonly redis: RedisConnection,
    private readonly key: string,
    private readonly leaseMs: number,
  ) {}

  /** Reports this worker. @returns how many there are, this one included */
  async call(): Promise<number> {
    return Number(
      await this.redis.eval(CALL, 1, this.key, this.me, Math.ceil(this.leaseMs / 1_000)),
    );
  }

  /** Takes this worker off. */
  async leave(): Promise<void> {
    await this.redis.zrem(this.key, this.me);
  }
}
