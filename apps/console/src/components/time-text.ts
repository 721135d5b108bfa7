const UNITS = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
  ['second', 1_000],
] as const;

const relative = new Intl.RelativeTimeFormat('en', { numeric: 'auto' });

/** `5 minutes ago`, `in 2 hours`, in the largest unit that fits. */
export function relativeText(at: number, now: number): string {
  const ms = at - now;
  const [unit, size] = UNITS.find(([, each]) => Math.abs(ms) >= each) ?? UNITS[3];
  const amount = Math.trunc(ms / size);
  return unit === 'second' && amount === 0 ? 'just now' : relative.format(amount, unit);
}

/** `45 ms`, `1.5 s`, `3 minutes`. */
export function durationText(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${Math.round(ms / 100) / 10} s`;
  const [unit, size] = UNITS.find(([, each]) => ms >= each) ?? UNITS[2];
  const amount = Math.round(ms / size);
  return `${amount} ${unit}${amount === 1 ? '' : 's'}`;
}

/** `2026-11-25 14:02:31.123 UTC`. */
export function utcText(at: string): string {
  return `${at.replace('T', ' ').replace('Z', '')} UTC`;
}
