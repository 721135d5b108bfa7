/** A summary of many measurements. */
export interface Distribution {
  count: number;
  p50: number;
  p99: number;
  max: number;
}

export function distributionOf(values: readonly number[]): Distribution {
  const sorted = Float64Array.from(values).sort();
  const at = (part: number) =>
    sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))];
  return { count: sorted.length, p50: at(0.5) ?? NaN, p99: at(0.99) ?? NaN, max: at(1) ?? NaN };
}

/** The median; the lower one of two. */
export function median(values: readonly number[]): number {
  return values.toSorted((one, other) => one - other)[(values.length - 1) >> 1] ?? NaN;
}
