import { Injectable } from '@nestjs/common';
import { type Found, type Page, type Scope, timeOfId, ValidationError } from '#libs/kernel';
import type { EventWithData } from './event.js';
import {
  CursorExpiredError,
  type FeedFilter,
  FeedHorizon,
  FeedReader,
  type Horizon,
  NotACursorError,
} from './feed.js';
import { FeedWaiters } from './feed-waiters.js';

/** How long a request waits until it is looked at again. */
const CHECK_MS = 1_000;
/** How far ahead a start may be, as after a restore. With one further ahead, a follower would get nothing without knowing why. */
const MOST_AHEAD_MS = 86_400_000;

/** Where a follower begins: after a cursor or, without one, at a time, by default now. */
export interface FeedStart {
  after?: string;
  since?: Date;
}

/** How a request waits for events. */
export interface FeedWait {
  /** Who waits, of whom only some may at once. */
  userId: string;
  ms: number;
  /** Ends the wait. */
  end: AbortSignal;
  /** Runs a look for events. */
  look: <Result>(work: () => Promise<Result>) => Promise<Result>;
  /** Called about once a second. @throws if the request must not get an answer any more */
  check: () => Promise<void>;
}

/** The events between two cursors, all that there will ever be. */
export interface FeedPart {
  after: string;
  /** Where to go on after all of them. */
  end: string;
  read: (page: Page) => Promise<Found<EventWithData>>;
}

/** Events in an order that never changes: nothing ever appears behind a cursor that was given. */
@Injectable()
export class FeedService {
  constructor(
    private readonly reader: FeedReader,
    private readonly horizon: FeedHorizon,
    private readonly waiters: FeedWaiters,
  ) {}

  /**
   * @param wait waits until there is an event; undefined to return what there is
   * @throws CursorExpiredError, NotACursorError, RateLimitedError if too many requests of the user wait, UnavailableError
   */
  async open(
    scope: Scope,
    filter: FeedFilter,
    start: FeedStart,
    wait?: FeedWait,
  ): Promise<FeedPart> {
    const end = await this.horizon.current();
    const after = await this.cursorOf(start, end);
    if (!wait) return this.part(scope, filter, after, end);
    const leave = this.waiters.enter(wait.userId);
    try {
      return await this.next(scope, filter, after, end, wait);
    } finally {
      leave();
    }
  }

  /** @throws CursorExpiredError, NotACursorError, ValidationError */
  private async cursorOf({ after, since }: FeedStart, end: Horizon): Promise<string> {
    const isTooLate = (start: Date) => start.getTime() - timeOfId(end).getTime() > MOST_AHEAD_MS;
    if (after !== undefined) {
      const oldest = await this.reader.oldest(end);
      if (after < oldest) throw new CursorExpiredError(oldest);
      if (isTooLate(timeOfId(after))) throw new NotACursorError();
      return after;
    }
    if (since === undefined) return end;
    if (isTooLate(since)) {
      const message = 'The query parameter since must be at most a day in the future.';
      throw ValidationError.of('since', 'range', message);
    }
    return later(await this.reader.oldest(end), this.reader.cursorAt(since));
  }

  /** Waits for an event that matches. Skips what it has searched without finding any. */
  private async next(
    scope: Scope,
    filter: FeedFilter,
    start: string,
    horizon: Horizon,
    wait: FeedWait,
  ): Promise<FeedPart> {
    const until = performance.now() + wait.ms;
    let [after, end] = [start, horizon];
    for (;;) {
      const from = { after, limit: 1 };
      const { rows, stoppedAt } = await wait.look(() => this.reader.read(scope, filter, from, end));
      if (rows.length > 0) break;
      after = stoppedAt ?? later(after, end);
      if (performance.now() >= until) break;
      if (stoppedAt !== undefined) continue;
      if (!(await this.isNews(scope, after, until, wait))) break;
      end = await this.horizon.current();
    }
    return this.part(scope, filter, after, end);
  }

  private async isNews(
    scope: Scope,
    after: string,
    until: number,
    wait: FeedWait,
  ): Promise<boolean> {
    for (;;) {
      const leftMs = until - performance.now();
      if (leftMs <= 0 || this.waiters.stopped) return false;
      const ms = Math.min(leftMs, CHECK_MS);
      const isNews = await this.waiters.wait({ scope, after }, ms, wait.end);
      await wait.check();
      if (isNews) return true;
    }
  }

  private part(scope: Scope, filter: FeedFilter, after: string, end: Horizon): FeedPart {
    return {
      after,
      end: later(after, end),
      read: (page) => this.reader.read(scope, filter, { ...page, after: page.after ?? after }, end),
    };
  }
}

/** The later of two cursors. One may be ahead of the horizon, if another process has given it. */
function later(one: string, other: string): string {
  return one > other ? one : other;
}
