/** Microseconds of the machine's monotonic clock, the same in every process of it. */
export function now(): number {
  return Number(process.hrtime.bigint() / 1_000n);
}
