import { Inject, Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { isNumericId, isUuid } from '#libs/kernel';
import {
  CONFIG,
  type Config,
  connectRedis,
  Log,
  readyRedis,
  type RedisConnection,
  RefusalLog,
} from '#libs/runtime';
import { Activity, type Change } from './domain/activity.js';

/**
 * An account's activity is a Redis stream that exists only while somebody listens, and five minutes longer.
 * Its ids are `<when it was created>-<number>`, without gaps, so a reader notices what it has missed. One
 * hash tag keeps all keys on one node of a Redis Cluster.
 */
const PREFIX = '{switchhook:activity}';

/** Accounts that have listeners, by the time until which their activity is written. */
export const ACCOUNTS_KEY = `${PREFIX}:accounts`;

export const logKey = (accountId: string): string => `${PREFIX}:log:${accountId}`;

/** The registered listeners of an account, by the time at which their registrations end. */
export const listenersKey = (accountId: string): string => `${PREFIX}:listeners:${accountId}`;

/** How long the activity of an account is written after its last listener has left. */
const KEPT_MS = 300_000;
/** How many entries of an account are kept: half a megabyte. */
const MOST_KEPT = 10_000;

const NOW = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)`;

/**
 * Registers a listener, or renews its registration, and has the account's activity written.
 * KEYS: accounts, listeners, log. ARGV: account, listener, most listeners, how long its registration lasts, in ms.
 * @returns the id of the last entry; nil if the account has too many listeners
 */
export const LISTEN = `${NOW}
redis.call('ZREMRANGEBYSCORE', KEYS[2], '-inf', now)
if not redis.call('ZSCORE', KEYS[2], ARGV[2]) and redis.call('ZCARD', KEYS[2]) >= tonumber(ARGV[3]) then
  return nil
end
redis.call('ZADD', KEYS[2], now + ARGV[4], ARGV[2])
redis.call('PEXPIRE', KEYS[2], ARGV[4])
redis.call('ZADD', KEYS[1], now + ${KEPT_MS}, ARGV[1])
if redis.call('EXISTS', KEYS[3]) == 0 then
  redis.call('XADD', KEYS[3], now .. '-1', 'h', 'opened')
end
redis.call('PEXPIRE', KEYS[3], ${KEPT_MS})
return redis.call('XREVRANGE', KEYS[3], '+', '-', 'COUNT', 1)[1][1]`;

/** @returns the accounts whose activity is to be written. KEYS: accounts */
export const ACCOUNTS = `${NOW}
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now)
return redis.call('ZRANGE', KEYS[1], 0, -1)`;

/** Appends entries to a log, if it exists. KEYS: log. ARGV: the entries */
export const WRITE = `
local last = redis.call('XREVRANGE', KEYS[1], '+', '-', 'COUNT', 1)[1]
if not last then return end
local created, number = string.match(last[1], '(%d+)-(%d+)')
for index, entry in ipairs(ARGV) do
  local id = created .. '-' .. string.format('%.0f', number + index)
  redis.call('XADD', KEYS[1], 'MAXLEN', '~', ${MOST_KEPT}, id, 'h', entry)
end`;

/** An entry that says that others may be missing. */
export const INTERRUPTED = 'interrupted';

export function entryOf(change: Change): string {
  const { kind, id } = change;
  return 'number' in change ? `${kind} ${id} ${change.number}` : `${kind} ${id}`;
}

/** @returns undefined for an unknown entry, which another release or program wrote */
export function changeOf(entry: string): Change | undefined {
  const [kind, id = '', number, ...others] = entry.split(' ');
  if (others.length > 0) return undefined;
  if (kind === 'attempt') {
    const isAttempt = isUuid(id) && /^\d{1,9}$/.test(number ?? '');
    return isAttempt ? { kind, id, number: Number(number) } : undefined;
  }
  if (number !== undefined) return undefined;
  if (kind === 'webhook') return isNumericId(id) ? { kind, id } : undefined;
  return (kind === 'event' || kind === 'delivery') && isUuid(id) ? { kind, id } : undefined;
}

/**
 * How long the accounts with listeners are cached, in ms. A new listener may miss changes until every process has
 * asked again.
 */
export const CACHED_MS = 250;
/** Most changes kept in memory while Redis is slow. Beyond that, listeners get an interruption instead. */
const MOST_WAITING = 10_000;

/**
 * Writes the activity of accounts with listeners to Redis. While nobody listens, it only asks for them, at
 * most four times a second and only when something happens.
 */
@Injectable()
export class RedisActivity extends Activity implements OnApplicationShutdown {
  private redis: RedisConnection | undefined;
  private accounts: ReadonlySet<string> = new Set();
  private askedAt = -Infinity;
  private waiting: (readonly [accountId: string, entry: string])[] = [];
  /** Whether changes were lost and listeners have not been told yet. */
  private isIncomplete = false;
  private writing: Promise<void> | undefined;

  private readonly refusals: RefusalLog;

  constructor(
    @Inject(CONFIG) private readonly config: Config,
    log: Log,
  ) {
    super();
    this.refusals = new RefusalLog('writing the activity of accounts', log);
  }

  override report(accountId: string, change: Change): void {
    if (this.isCurrent() && !this.accounts.has(accountId)) return;
    if (this.waiting.length < MOST_WAITING) this.waiting.push([accountId, entryOf(change)]);
    else this.isIncomplete = true;
    this.writing ??= this.writeAll().finally(() => {
      this.writing = undefined;
    });
  }

  async onApplicationShutdown(): Promise<void> {
    await this.writing;
    this.redis?.disconnect();
  }

  private isCurrent(): boolean {
    return performance.now() - this.askedAt < CACHED_MS;
  }

  /** Never rejects. */
  private async writeAll(): Promise<void> {
    while (this.waiting.length > 0) {
      const taken = this.waiting;
      this.waiting = [];
      try {
        await this.write(taken);
        this.refusals.worked();
      } catch (error) {
        this.refusals.failed(error);
        this.isIncomplete = true;
      }
    }
  }

  private async write(taken: readonly (readonly [string, string])[]): Promise<void> {
    // With the first change, so that a command that reports none needs no Redis.
    this.redis ??= connectRedis(this.config, 'commands');
    const redis = await readyRedis(this.redis);
    if (!this.isCurrent()) {
      const askedAt = performance.now();
      this.accounts = new Set((await redis.eval(ACCOUNTS, 1, ACCOUNTS_KEY)) as string[]);
      this.askedAt = askedAt;
    }
    const entries = new Map<string, string[]>();
    if (this.isIncomplete) for (const account of this.accounts) entries.set(account, [INTERRUPTED]);
    for (const [account, entry] of taken) {
      if (!this.accounts.has(account)) continue;
      const ofAccount = entries.get(account);
      if (ofAccount) ofAccount.push(entry);
      else entries.set(account, [entry]);
    }
    for (const [account, texts] of entries) await redis.eval(WRITE, 1, logKey(account), ...texts);
    this.isIncomplete = false;
  }
}
