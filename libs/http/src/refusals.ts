import { addAbortListener } from 'node:events';
import { Injectable } from '@nestjs/common';
import { LRUCache } from '#libs/kernel';

/** The time between two refusals of the same party: an account or, before a login, an address. */
const APART_MS = 100;
const LONGEST_MS = 5_000;
/** Parties to remember. */
const REMEMBERED = 5_000;

/**
 * Slows down an address or account that keeps being refused. A refusal costs about as much as a success,
 * and clients that retry immediately would keep the process busy with nothing else.
 */
@Injectable()
export class Refusals {
  /** When each party's next refusal may be sent. */
  private readonly due = new LRUCache<string, number>({ max: REMEMBERED });

  /**
   * Resolves when this party's refusal may be sent: the first at once, then ten a second.
   * @param end the end of its request, after which nobody waits for it
   */
  async pace(party: string, end: () => AbortSignal): Promise<void> {
    const now = performance.now();
    const next = Math.max(now, this.due.get(party) ?? 0);
    const isFull = next > now + LONGEST_MS;
    if (!isFull) this.due.set(party, next + APART_MS);
    // Random, because refusals beyond the limit would otherwise all be sent together.
    const due = isFull ? now + LONGEST_MS * (1 - Math.random() / 5) : next;
    if (due <= now) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, due - now);
      addAbortListener(end(), () => {
        clearTimeout(timer);
        resolve();
      });
    });
  }
}
