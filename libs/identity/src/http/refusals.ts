import { Injectable } from '@nestjs/common';
import { LRUCache } from '#libs/kernel';

/** What a refusal adds to the wait of the next one of the same party, ms. */
const APART_MS = 100;
const LONGEST_MS = 5_000;
/** Parties whose last refusals are remembered. */
const REMEMBERED = 5_000;

/**
 * Slows down an address or account that keeps being refused. A refusal costs about as much as a success,
 * and clients that retry immediately would keep the process busy with nothing else.
 */
@Injectable()
export class Refusals {
  /** When the next one may go out, by party. */
  private readonly due = new LRUCache<string, number>({ max: REMEMBERED });

  /** Resolves when this party may be told: the first time at once, then ten times a second. */
  async pace(party: string): Promise<void> {
    const now = performance.now();
    const next = Math.max(now, this.due.get(party) ?? 0);
    const isFull = next > now + LONGEST_MS;
    if (!isFull) this.due.set(party, next + APART_MS);
    // Those beyond the limit would otherwise all go out together.
    const due = isFull ? now + LONGEST_MS * (1 - Math.random() / 5) : next;
    if (due > now) await new Promise((resolve) => setTimeout(resolve, due - now));
  }
}
