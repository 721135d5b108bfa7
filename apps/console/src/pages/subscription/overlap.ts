const OVERLAP_MS = 24 * 3_600_000;
/** At most this many old keys sign besides the new one; one more ends the oldest. */
const MOST_OLD_KEYS = 10;

/** Old keys that still sign. */
export interface Overlap {
  /** How many. */
  count: number;
  /** When the last of them ends, in ms. */
  until: number;
}

/**
 * The old keys that still sign besides the current one; undefined if there are none.
 * @param replacedAt when keys were replaced
 * @param now ms
 */
export function overlapOf(replacedAt: readonly string[], now: number): Overlap | undefined {
  const ends = replacedAt.map((at) => Date.parse(at) + OVERLAP_MS).filter((end) => end > now);
  if (ends.length === 0) return undefined;
  return { count: Math.min(ends.length, MOST_OLD_KEYS), until: Math.max(...ends) };
}

/** `23:59:08` */
export function countdownText(ms: number): string {
  const seconds = Math.max(Math.ceil(ms / 1_000), 0);
  const parts = [Math.floor(seconds / 3_600), Math.floor(seconds / 60) % 60, seconds % 60];
  return parts.map((part) => String(part).padStart(2, '0')).join(':');
}
