import { Injectable } from '@nestjs/common';
import { RateLimitedError } from '#libs/kernel';
import { FeedHorizon, FeedReader, type Waiting } from './feed.js';

/** How often a process looks for events while requests wait. */
const LOOK_MS = 200;
/** Most requests of a user that wait at once, in a process. */
export const MOST_WAITING = 20;
const RETRY_AFTER_MS = 1_000;

interface Waiter extends Waiting {
  wake: (isNews: boolean) => void;
  fail: (error: Error) => void;
}

/** Requests that wait for events. One look at a time serves all of them, and they hold no connection meanwhile. */
@Injectable()
export class FeedWaiters {
  /** Whether the process stops, and so nobody waits. */
  stopped = false;
  private readonly waiters = new Set<Waiter>();
  /** How many requests of each user wait. */
  private readonly counts = new Map<string, number>();
  private looking: Promise<void> | undefined;

  constructor(
    private readonly reader: FeedReader,
    private readonly horizon: FeedHorizon,
  ) {}

  /**
   * Counts a request that is going to wait. @returns what ends it
   * @throws RateLimitedError
   */
  enter(userId: string): () => void {
    const count = (this.counts.get(userId) ?? 0) + 1;
    if (count > MOST_WAITING) {
      const message = `The account already has ${MOST_WAITING} requests that wait for events, which is the limit.`;
      throw new RateLimitedError(message, RETRY_AFTER_MS);
    }
    this.counts.set(userId, count);
    return () => {
      const others = this.counts.get(userId)! - 1;
      if (others > 0) this.counts.set(userId, others);
      else this.counts.delete(userId);
    };
  }

  /**
   * Resolves with true when there may be an event, and with false after `ms`, with the signal, or when the process stops.
   * @throws UnavailableError
   */
  async wait(what: Waiting, ms: number, end: AbortSignal): Promise<boolean> {
    if (this.stopped || end.aborted) return false;
    return new Promise((resolve, reject) => {
      const leave = (): void => {
        this.waiters.delete(waiter);
        clearTimeout(timer);
        end.removeEventListener('abort', giveUp);
      };
      const wake = (isNews: boolean): void => {
        leave();
        resolve(isNews);
      };
      const fail = (error: Error): void => {
        leave();
        reject(error);
      };
      const waiter: Waiter = { ...what, wake, fail };
      const giveUp = (): void => wake(false);
      const timer = setTimeout(giveUp, ms);
      end.addEventListener('abort', giveUp);
      this.waiters.add(waiter);
      this.looking ??= this.lookRepeatedly();
    });
  }

  /** NestJS calls it before the server waits for its answers to end. */
  async beforeApplicationShutdown(): Promise<void> {
    this.stopped = true;
    for (const { wake } of this.waiters) wake(false);
    await this.looking;
  }

  private async lookRepeatedly(): Promise<void> {
    for (;;) {
      await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
      const waiting = [...this.waiters];
      if (waiting.length === 0) break;
      try {
        const news = await this.reader.haveNews(waiting, await this.horizon.current());
        for (const [index, isNews] of news.entries()) if (isNews) waiting[index]!.wake(true);
      } catch (error) {
        for (const { fail } of waiting) fail(error as Error);
      }
    }
    this.looking = undefined;
  }
}
