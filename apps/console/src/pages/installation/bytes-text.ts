const UNITS = ['bytes', 'kB', 'MB', 'GB', 'TB'];

/** `8.2 kB`, `176 MB`; in powers of 1000. */
export function bytesText(bytes: number): string {
  const power = bytes < 1_000 ? 0 : Math.min(Math.floor(Math.log10(bytes) / 3), UNITS.length - 1);
  const amount = bytes / 1_000 ** power;
  return `${amount.toFixed(power === 0 || amount >= 100 ? 0 : 1)} ${UNITS[power] ?? ''}`;
}
