/** A party is alone when no other party has been active for this long. */
const ALONE_AFTER_MS = 1_000;

/** Knows whether several parties are active. */
export class Sharing {
  private latest: string | undefined;
  private sharedUntil = -Infinity;

  /**
   * Notes that a party is active.
   * @param now ms of a monotonic clock
   * @returns whether several are
   */
  note(party: string, now: number): boolean {
    this.latest ??= party;
    if (party !== this.latest) {
      this.latest = party;
      this.sharedUntil = now + ALONE_AFTER_MS;
    }
    return now < this.sharedUntil;
  }
}
