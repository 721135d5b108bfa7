import { once } from 'node:events';
import { Inject, Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { CONFIG, type Config, connectRedis, type RedisConnection } from '#libs/runtime';
import { Activity, type Happening } from '../domain/activity.js';
import {
  ACCOUNTS,
  ACCOUNTS_KEY,
  entryOf,
  INTERRUPTED,
  logKey,
  WRITE,
} from './activity-log.scripts.js';

/**
 * How long the accounts with listeners are cached, in ms. A new listener may miss what happens in its first
 * moments, until every process has asked again.
 */
export const CACHED_MS = 250;
const CONNECT_MS = 1_000;
/** Happenings in memory while Redis is slow. Beyond that, listeners are told that they may have missed some. */
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
  /** Whether something could not be written, and its listeners do not know that yet. */
  private isIncomplete = false;
  private writing: Promise<void> | undefined;

  constructor(@Inject(CONFIG) private readonly config: Config) {
    super();
  }

  override report(accountId: string, happening: Happening): void {
    if (this.isCurrent() && !this.accounts.has(accountId)) return;
    if (this.waiting.length < MOST_WAITING) this.waiting.push([accountId, entryOf(happening)]);
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
      } catch {
        this.isIncomplete = true;
      }
    }
  }

  private async write(taken: readonly (readonly [string, string])[]): Promise<void> {
    const redis = await this.connection();
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

  /** Connects with the first happening, so that a command that reports none needs no Redis. */
  private async connection(): Promise<RedisConnection> {
    if (!this.redis) {
      this.redis = connectRedis(this.config, 'commands');
      // Commands fail by themselves; without a listener, ioredis would print every attempt.
      this.redis.on('error', () => undefined);
    }
    if (this.redis.status !== 'ready') {
      await once(this.redis, 'ready', { signal: AbortSignal.timeout(CONNECT_MS) });
    }
    return this.redis;
  }
}
