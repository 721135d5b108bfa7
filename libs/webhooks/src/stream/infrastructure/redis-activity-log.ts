import { randomUUID } from 'node:crypto';
import { addAbortListener, once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { type BeforeApplicationShutdown, Inject, Injectable } from '@nestjs/common';
import { RateLimitedError, UnavailableError } from '#libs/kernel';
import { CONFIG, type Config, connectRedis, type RedisConnection } from '#libs/runtime';
import {
  ACCOUNTS_KEY,
  happeningOf,
  INTERRUPTED,
  LISTEN,
  listenersKey,
  logKey,
} from '../../activity/infrastructure/activity-log.scripts.js';
import { CACHED_MS } from '../../activity/infrastructure/redis-activity.js';
import { ActivityLog, type Entry, type Follower } from '../domain/activity-log.js';
import { comparePlaces, isNext, isPlace } from './places.js';

/** Most streams of an account at once. */
const MOST_STREAMS = 5;
/** How long a follower counts without a sign of life: its process may have died. */
const COUNTED_MS = 30_000;
const SIGN_OF_LIFE_MS = 10_000;
/** How long a read waits for entries. A new follower waits for the end of the read before. */
const BLOCK_MS = 250;
const AGAIN_MS = 500;
const CONNECT_MS = 1_000;
/** Most entries that a read returns of an account, and most that wait for a slow listener. */
const MOST_READ = 200;
const MOST_WAITING = 1_000;
/** Most entries that are taken at once. */
const MOST_TAKEN = 20;

/** An account with followers. All entries up to `place` were given to them. */
interface Followed {
  place: string;
  followers: Set<RedisFollower>;
}

/** Activity in Redis streams. One connection reads those of all accounts that this process follows. */
@Injectable()
export class RedisActivityLog extends ActivityLog implements BeforeApplicationShutdown {
  private readonly accounts = new Map<string, Followed>();
  private readonly connections: Partial<Record<'commands' | 'blocking', RedisConnection>> = {};
  private reading: Promise<void> | undefined;
  private stopped = false;

  constructor(@Inject(CONFIG) private readonly config: Config) {
    super();
  }

  override async follow(
    accountId: string,
    after: string | undefined,
    end: AbortSignal,
  ): Promise<Follower> {
    if (this.stopped) throw new UnavailableError();
    const follower = new RedisFollower(
      (id) => this.listen(accountId, id),
      (closed) => this.leave(accountId, closed),
    );
    const last = await this.listen(accountId, follower.id).catch((error: unknown) => {
      throw new UnavailableError(error);
    });
    if (last === undefined) {
      const message = `The account has ${MOST_STREAMS} streams, as many as it may have at once.`;
      throw new RateLimitedError(message, SIGN_OF_LIFE_MS);
    }
    const isKnown = after !== undefined && isPlace(after) && comparePlaces(after, last) <= 0;
    follower.begin(isKnown ? after : last, { isComplete: after === undefined || isKnown });
    const followed = this.accounts.get(accountId);
    if (followed) {
      followed.followers.add(follower);
      if (comparePlaces(follower.start, followed.place) < 0) followed.place = follower.start;
    } else {
      this.accounts.set(accountId, { place: follower.start, followers: new Set([follower]) });
    }
    this.reading ??= this.readAll().finally(() => {
      this.reading = undefined;
    });
    // Not before: its place is given back only once it is taken.
    addAbortListener(end, () => follower.close());
    // Until then, another process may not know that somebody listens.
    await sleep(CACHED_MS);
    return follower;
  }

  /** Before the server waits for its answers to end. */
  async beforeApplicationShutdown(): Promise<void> {
    this.stopped = true;
    for (const { followers } of this.accounts.values()) for (const one of followers) one.close();
    await this.reading;
    for (const redis of Object.values(this.connections)) redis.disconnect();
  }

  /** @returns the last place; undefined if the account has too many followers */
  private async listen(accountId: string, id: string): Promise<string | undefined> {
    const redis = await this.connected('commands');
    const keys = [ACCOUNTS_KEY, listenersKey(accountId), logKey(accountId)];
    const values = [accountId, id, MOST_STREAMS, COUNTED_MS];
    const last = await redis.eval(LISTEN, keys.length, ...keys, ...values);
    return (last as string | null) ?? undefined;
  }

  private leave(accountId: string, follower: RedisFollower): void {
    const followed = this.accounts.get(accountId);
    followed?.followers.delete(follower);
    if (followed?.followers.size === 0) this.accounts.delete(accountId);
    // If it fails, the follower counts for half a minute more.
    void this.connections.commands
      ?.zrem(listenersKey(accountId), follower.id)
      .catch(() => undefined);
  }

  private async readAll(): Promise<void> {
    while (this.accounts.size > 0 && !this.stopped) {
      try {
        await this.readOnce();
      } catch {
        await sleep(AGAIN_MS);
      }
    }
  }

  private async readOnce(): Promise<void> {
    const redis = await this.connected('blocking');
    const asked = [...this.accounts].filter(([, { followers }]) =>
      [...followers].every((follower) => !follower.isFull),
    );
    if (asked.length === 0) {
      await sleep(BLOCK_MS);
      return;
    }
    const places = new Map(asked.map(([accountId, { place }]) => [logKey(accountId), place]));
    const read = await redis.xread(
      'COUNT',
      MOST_READ,
      'BLOCK',
      BLOCK_MS,
      'STREAMS',
      ...places.keys(),
      ...places.values(),
    );
    const byKey = new Map(read);
    for (const [accountId, followed] of asked) {
      const key = logKey(accountId);
      const items = byKey.get(key) ?? [];
      // A follower that resumes may have gone back meanwhile; it needs what comes after its own place.
      if (items.length === 0 || followed.place !== places.get(key)) continue;
      for (const follower of followed.followers) follower.add(items);
      followed.place = items.at(-1)![0];
    }
  }

  private async connected(use: 'commands' | 'blocking'): Promise<RedisConnection> {
    // Kept before it is ready: it goes on trying to connect, and one is enough.
    const redis = (this.connections[use] ??= connectRedis(this.config, use).on(
      'error',
      () => undefined,
    ));
    if (redis.status !== 'ready') {
      await once(redis, 'ready', { signal: AbortSignal.timeout(CONNECT_MS) });
    }
    return redis;
  }
}

/** A follower of one account. */
class RedisFollower implements Follower {
  readonly id = randomUUID();
  start = '';
  private place = '';
  private entries: Entry[] = [];
  private isClosed = false;
  private wake: () => void = () => undefined;
  private timer: NodeJS.Timeout | undefined;

  /** @param signOfLife counts the follower on; resolves to undefined if the account has too many without it */
  constructor(
    private readonly signOfLife: (id: string) => Promise<string | undefined>,
    private readonly onClose: (follower: RedisFollower) => void,
  ) {}

  get isFull(): boolean {
    return this.entries.length >= MOST_WAITING;
  }

  begin(place: string, { isComplete }: { isComplete: boolean }): void {
    this.start = place;
    this.place = place;
    if (!isComplete) this.entries.push({ place, happening: INTERRUPTED });
    this.timer = setInterval(() => void this.live(), SIGN_OF_LIFE_MS);
  }

  /** @param items of a Redis stream, of which some may be known */
  add(items: readonly [id: string, fields: string[]][]): void {
    for (const [place, [, text = '']] of items) {
      if (comparePlaces(place, this.place) <= 0) continue;
      if (!isNext(this.place, place)) this.entries.push({ place, happening: INTERRUPTED });
      this.place = place;
      const happening = text === INTERRUPTED ? text : happeningOf(text);
      if (happening) this.entries.push({ place, happening });
    }
    this.wake();
  }

  async next(): Promise<Entry[] | undefined> {
    if (this.entries.length === 0 && !this.isClosed) {
      await new Promise<void>((resolve) => {
        this.wake = resolve;
      });
    }
    return this.isClosed ? undefined : this.entries.splice(0, MOST_TAKEN);
  }

  private async live(): Promise<void> {
    this.wake();
    try {
      // It also creates the log again if Redis has lost it.
      if ((await this.signOfLife(this.id)) === undefined) this.close();
    } catch {
      // The next one may succeed.
    }
  }

  close(): void {
    if (this.isClosed) return;
    this.isClosed = true;
    clearInterval(this.timer);
    this.wake();
    this.onClose(this);
  }
}
