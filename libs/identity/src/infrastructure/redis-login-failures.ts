import { Injectable } from '@nestjs/common';
import { RedisLimits } from '#libs/runtime';
import { LocalLoginFailures } from '../domain/local-login-failures.js';
import {
  ATTEMPTS_PENDING_MS,
  FAILURE_WINDOW_MS,
  type LoginCounter,
  LoginFailures,
  type LoginOutcome,
} from '../domain/login-failures.js';

/** ARGV: allowed, ms of the window, ms to wait for attempts that are not decided. */
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

/** ARGV: the outcome. A window that has ended meanwhile is not begun anew, or its key would stay. */
const END = `
if redis.call('EXISTS', KEYS[1]) == 0 then return 0 end
if ARGV[1] == 'failed' then return redis.call('HINCRBY', KEYS[1], 'failures', 1) end
if ARGV[1] == 'undecided' and redis.call('HINCRBY', KEYS[1], 'attempts', -1) > 0 then return 0 end
return redis.call('DEL', KEYS[1])
`;

/** Failed logins as all processes have seen them; with Redis away each counts alone. */
@Injectable()
export class RedisLoginFailures extends LoginFailures {
  private readonly alone = new LocalLoginFailures();

  constructor(private readonly redis: RedisLimits) {
    super();
  }

  override async begin(counter: LoginCounter): Promise<number> {
    const values = [counter.allowed, FAILURE_WINDOW_MS, ATTEMPTS_PENDING_MS];
    const wait = await this.redis.run(BEGIN, keyOf(counter), values);
    if (wait !== undefined && wait !== 0) return Number(wait);
    // What got through counts here as well, so that a Redis that comes and goes forgets nothing.
    const waitAlone = await this.alone.begin(counter);
    return wait === undefined ? waitAlone : 0;
  }

  override end(counter: LoginCounter, outcome: LoginOutcome): void {
    this.alone.end(counter, outcome);
    void this.redis.run(END, keyOf(counter), [outcome]);
  }
}

function keyOf({ key }: LoginCounter): string {
  return `switchhook:login:${key}`;
}
