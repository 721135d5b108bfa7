import { Injectable } from '@nestjs/common';
import { type Config, connectRedis, type RedisConnection, RedisLimits } from '#libs/runtime';
import {
  ATTEMPTS_PENDING_MS,
  FAILURE_WINDOW_MS,
  keyOf,
  LocalLoginFailures,
  type LoginCounter,
  LoginFailures,
  type LoginOutcome,
} from '../domain/login-failures.js';

/** ARGV: failures allowed, window in ms, wait in ms while attempts are pending. */
const BEGIN = `
local attempts = tonumber(redis.call('HGET', KEYS[1], 'attempts') or 0)
if attempts < tonumber(ARGV[1]) then
  redis.call('HINCRBY', KEYS[1], 'attempts', 1)
  if attempts == 0 then redis.call('PEXPIRE', KEYS[1], ARGV[2]) end
  return 0
end
local failures = tonumber(redis.call('HGET', KEYS[1], 'failures') or 0)
if failures < tonumber(ARGV[1]) then return tonumber(ARGV[3]) end
return math.max(redis.call('PTTL', KEYS[1]), 1)
`;

/** ARGV: the outcome. It does not recreate an expired window, whose key would have no expiry. */
const END = `
if redis.call('EXISTS', KEYS[1]) == 0 then return 0 end
if ARGV[1] == 'failed' then return redis.call('HINCRBY', KEYS[1], 'failures', 1) end
if ARGV[1] == 'undecided' and redis.call('HINCRBY', KEYS[1], 'attempts', -1) > 0 then return 0 end
return redis.call('DEL', KEYS[1])
`;

/** Counts the failed logins of all processes; without Redis, each process counts its own. */
@Injectable()
export class RedisLoginFailures extends LoginFailures {
  private readonly local = new LocalLoginFailures();

  constructor(private readonly redis: RedisLimits) {
    super();
  }

  override async begin(counter: LoginCounter): Promise<number> {
    const values = [counter.allowed, FAILURE_WINDOW_MS, ATTEMPTS_PENDING_MS];
    const wait = await this.redis.run(BEGIN, redisKeyOf(counter), values);
    if (wait !== undefined && wait !== 0) return Number(wait);
    // Also counted locally, so that an outage of Redis does not reset the count.
    const localWait = await this.local.begin(counter);
    return wait === undefined ? localWait : 0;
  }

  override end(counter: LoginCounter, outcome: LoginOutcome): void {
    this.local.end(counter, outcome);
    void this.redis.run(END, redisKeyOf(counter), [outcome]);
  }
}

/**
 * Deletes the counters of a username from all addresses; those of an address with any username stay.
 * @returns how many counters there were
 * @throws when Redis is away
 */
export async function forgetLoginFailures(config: Config, username: string): Promise<number> {
  const redis = connectRedis(config, 'commands');
  try {
    await connected(redis);
    let forgotten = 0;
    const nodes = 'nodes' in redis ? redis.nodes('master') : [redis];
    for (const node of nodes) {
      const match = `${PREFIX}${keyOf(username)}:*`;
      for await (const keys of node.scanStream({ match, count: 1_000 })) {
        for (const key of keys as string[]) forgotten += await redis.del(key);
      }
    }
    return forgotten;
  } finally {
    redis.disconnect();
  }
}

/** Rejects with the first failure, where ioredis itself would retry for ever. */
function connected(redis: RedisConnection): Promise<void> {
  return new Promise((resolve, reject) => {
    redis.once('ready', () => resolve()).on('error', reject);
  });
}

const PREFIX = 'switchhook:login:';

function redisKeyOf({ key }: LoginCounter): string {
  return `${PREFIX}${key}`;
}
