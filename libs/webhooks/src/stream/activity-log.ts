import { randomUUID } from 'node:crypto';
import { addAbortListener } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { type BeforeApplicationShutdown, Inject, Injectable } from '@nestjs/common';
import { RateLimitedError, UnavailableError } from '#libs/kernel';
import {
  CONFIG,
  type Config,
  connectRedis,
  Log,
  readyRedis,
  type RedisConnection,
  RefusalLog,
} from '#libs/runtime';
import type { Change } from '../activity/domain/activity.js';
import {
  ACCOUNTS_KEY,
  CACHED_MS,
  changeOf,
  INTERRUPTED,
  LISTEN,
  listenersKey,
  logKey,
} from '../activity/redis-activity.js';

/** An entry of an account's activity. `interrupted`: entries before it may be missing. */
export interface Entry {
  /** Where to resume after it. */
  cursor: string;
  change: Change | 'interrupted';
}

/** Cursors in a log: ids of a Redis stream, which are `<when the log was created>-<number>`. */
const CURSOR = /^(\d{1,15})-(\d{1,15})$/;

function isCursor(text: string): boolean {
  return CURSOR.test(text);
}

/** @returns a negative number if `one` is before `other`, 0 if they are the same */
function compareCursors(one: string, other: string): number {
  const [created, number] = partsOf(one);
  const [otherCreated, otherNumber] = partsOf(other);
  return created - otherCreated || number - otherNumber;
}

/** Whether there is nothing between two cursors. Otherwise entries were removed, or the log began anew. */
function isNext(cursor: string, next: string): boolean {
  const [created, number] = partsOf(cursor);
  const [nextCreated, nextNumber] = partsOf(next);
  return created === nextCreated && number + 1 === nextNumber;
}

function partsOf(cursor: string): [created: number, number: number] {
  const [, created = '0', number = '0'] = CURSOR.exec(cursor) ?? [];
  return [Number(created), Number(number)];
}

const NO_STREAM = 'The event stream is not available now.';

/** Most streams of an account at once. */
const MOST_STREAMS = 5;
/** How long a registration lasts without a sign of life, because the process may have died. */
const COUNTED_MS = 30_000;
const SIGN_OF_LIFE_MS = 10_000;
/** How long a read waits for entries. A new listener waits for the end of the read before. */
const BLOCK_MS = 250;
const AGAIN_MS = 500;
/** Most entries of an account that a read returns, and most that are buffered for a slow listener. */
const MOST_READ = 200;
const MOST_WAITING = 1_000;
/** The maximum number of entries taken at once. */
const MOST_TAKEN = 20;

/** An account with listeners, which have got all entries up to `cursor`. */
interface ListenedAccount {
  cursor: string;
  listeners: Set<Listener>;
}

/** Activity in Redis streams. One connection reads those of all accounts that this process listens to. */
@Injectable()
export class ActivityLog implements BeforeApplicationShutdown {
  private readonly accounts = new Map<string, ListenedAccount>();
  private readonly connections: Partial<Record<'commands' | 'blocking', RedisConnection>> = {};
  private reading: Promise<void> | undefined;
  private readonly refusals: RefusalLog;
  private stopped = false;

  constructor(
    @Inject(CONFIG) private readonly config: Config,
    log: Log,
  ) {
    this.refusals = new RefusalLog('reading the activity of accounts', log);
  }

  /**
   * Resolves once nothing is missed any more.
   * @param after the cursor to resume after; undefined to begin now
   * @param end closes the listener, even if it was aborted before
   * @throws RateLimitedError if the account has too many listeners; UnavailableError
   */
  async listen(accountId: string, after: string | undefined, end: AbortSignal): Promise<Listener> {
    if (this.stopped) throw new UnavailableError(undefined, NO_STREAM);
    const listener = new Listener(
      (id) => this.register(accountId, id),
      (closed) => this.leave(accountId, closed),
    );
    const last = await this.register(accountId, listener.id).catch((error: unknown) => {
      throw new UnavailableError(error, NO_STREAM);
    });
    if (last === undefined) {
      const message = `The account already has ${MOST_STREAMS} open streams, which is the limit.`;
      throw new RateLimitedError(message, SIGN_OF_LIFE_MS);
    }
    const isKnown = after !== undefined && isCursor(after) && compareCursors(after, last) <= 0;
    listener.begin(isKnown ? after : last, { isComplete: after === undefined || isKnown });
    const heard = this.accounts.get(accountId);
    if (heard) {
      heard.listeners.add(listener);
      if (compareCursors(listener.start, heard.cursor) < 0) heard.cursor = listener.start;
    } else {
      this.accounts.set(accountId, { cursor: listener.start, listeners: new Set([listener]) });
    }
    this.reading ??= this.readAll().finally(() => {
      this.reading = undefined;
    });
    // Only now, because closing removes a registration that exists.
    addAbortListener(end, () => listener.close());
    // Until then, another process may not know of this listener.
    await sleep(CACHED_MS);
    return listener;
  }

  /** Before the server waits for its answers to end. */
  async beforeApplicationShutdown(): Promise<void> {
    this.stopped = true;
    for (const { listeners } of this.accounts.values()) for (const one of listeners) one.close();
    await this.reading;
    for (const redis of Object.values(this.connections)) redis.disconnect();
  }

  /** @returns the last cursor; undefined if the account has too many listeners */
  private async register(accountId: string, id: string): Promise<string | undefined> {
    const redis = await this.connected('commands');
    const keys = [ACCOUNTS_KEY, listenersKey(accountId), logKey(accountId)];
    const values = [accountId, id, MOST_STREAMS, COUNTED_MS];
    const last = await redis.eval(LISTEN, keys.length, ...keys, ...values);
    return (last as string | null) ?? undefined;
  }

  private leave(accountId: string, listener: Listener): void {
    const heard = this.accounts.get(accountId);
    heard?.listeners.delete(listener);
    if (heard?.listeners.size === 0) this.accounts.delete(accountId);
    // If this fails, the registration ends half a minute later.
    void this.connections.commands
      ?.zrem(listenersKey(accountId), listener.id)
      .catch(() => undefined);
  }

  private async readAll(): Promise<void> {
    while (this.accounts.size > 0 && !this.stopped) {
      try {
        await this.readOnce();
        this.refusals.worked();
      } catch (error) {
        this.refusals.failed(error);
        await sleep(AGAIN_MS);
      }
    }
  }

  private async readOnce(): Promise<void> {
    const redis = await this.connected('blocking');
    const asked = [...this.accounts].filter(([, { listeners }]) =>
      [...listeners].every((listener) => !listener.isFull),
    );
    if (asked.length === 0) {
      await sleep(BLOCK_MS);
      return;
    }
    const cursors = new Map(asked.map(([accountId, { cursor }]) => [logKey(accountId), cursor]));
    const read = await redis.xread(
      'COUNT',
      MOST_READ,
      'BLOCK',
      BLOCK_MS,
      'STREAMS',
      ...cursors.keys(),
      ...cursors.values(),
    );
    const byKey = new Map(read);
    for (const [accountId, heard] of asked) {
      const key = logKey(accountId);
      const items = byKey.get(key) ?? [];
      // A resumed listener may have moved the cursor back meanwhile, and needs the entries after its own cursor.
      if (items.length === 0 || heard.cursor !== cursors.get(key)) continue;
      for (const listener of heard.listeners) listener.add(items);
      heard.cursor = items.at(-1)![0];
    }
  }

  private connected(use: 'commands' | 'blocking'): Promise<RedisConnection> {
    // Kept even before it is ready, because it reconnects by itself.
    return readyRedis((this.connections[use] ??= connectRedis(this.config, use)));
  }
}

/** Reads the activity of one account. */
export class Listener {
  readonly id = randomUUID();
  /** The cursor at which it begins: everything that happens later is read. */
  start = '';
  private cursor = '';
  private entries: Entry[] = [];
  private isClosed = false;
  private wake: () => void = () => undefined;
  private timer: NodeJS.Timeout | undefined;

  /** @param signOfLife renews the registration; resolves to undefined if others have taken all of them */
  constructor(
    private readonly signOfLife: (id: string) => Promise<string | undefined>,
    private readonly onClose: (listener: Listener) => void,
  ) {}

  get isFull(): boolean {
    return this.entries.length >= MOST_WAITING;
  }

  begin(cursor: string, { isComplete }: { isComplete: boolean }): void {
    this.start = cursor;
    this.cursor = cursor;
    if (!isComplete) this.entries.push({ cursor, change: INTERRUPTED });
    this.timer = setInterval(() => void this.live(), SIGN_OF_LIFE_MS);
  }

  /** @param items of a Redis stream, of which some may be known */
  add(items: readonly [id: string, fields: string[]][]): void {
    for (const [cursor, [, text = '']] of items) {
      if (compareCursors(cursor, this.cursor) <= 0) continue;
      if (!isNext(this.cursor, cursor)) this.entries.push({ cursor, change: INTERRUPTED });
      this.cursor = cursor;
      const change = text === INTERRUPTED ? text : changeOf(text);
      if (change) this.entries.push({ cursor, change });
    }
    this.wake();
  }

  /**
   * The next entries, in order; none if nothing happened for a while.
   * @returns undefined once it is closed
   */
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
